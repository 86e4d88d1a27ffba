// Which experts a token goes to, and with what share.
//
//   logits, scores, biased [batch, experts] float32; chosen [batch, k] int32; shares [batch, k] float32
//   bytes a row: 12 experts; FLOPs: about 4 experts and the choice
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/indexer.h"

namespace dsv4::kernels {

struct Router {
  const float* logits;
  const float* bias;  // [experts], steers the choice alone; null in hash layers
  const int* table;   // [vocab, k], the experts of a token id; null where scores choose
  const int* ids;     // [batch], of the fed token
  float* scores;      // sqrt(softplus(logits))
  float* biased;      // scores + bias; untouched in hash layers
  int* chosen;        // ascending by expert, or as the table has them
  float* shares;      // scores[chosen] / (their sum + 1e-20) * scaling
  int experts, k;
  float scaling;
  ForcedChoice forced;
};

void route(cudaStream_t stream, const Router& args, int batch);

}  // namespace dsv4::kernels
