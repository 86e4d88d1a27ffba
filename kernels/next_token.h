// The next token from the logits, and the row's step to it: nothing of a decode loop goes through the host.
//
//   logits [batch, vocab] float32; bytes a row: 4 vocab (five times more, from cache, with top_k)
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace dsv4::kernels {

// How a lane samples; device data, so that one graph serves every request.
struct RowSampling {
  double temperature = 0;  // 0: the largest logit
  std::uint64_t key = 0;   // tensor_key(seed, "sampling")
  int top_k = 0;           // 0: all
  int active = 0;          // 1: the lane goes on with what is sampled; 0: it stays as it is
};

struct NextToken {
  const float* logits;
  const RowSampling* sampling;  // [batch]
  int vocab;
  int max_positions;
  int* ids;        // [batch]: the fed token becomes the next
  int* positions;  // [batch]: advanced by one, never beyond the last
  int* sampled;    // [batch]: what the logits say, whatever is fed next
  // For a reader on the host, who lags behind: the token of a lane's step s goes to [s mod ring_slots, row]
  // of pinned memory, s counted on the device. Null: to nobody.
  int* ring;
  unsigned* ring_step;  // [batch]
  int ring_slots, ring_rows;
};

void next_token(cudaStream_t stream, const NextToken& args, int batch);

}  // namespace dsv4::kernels
