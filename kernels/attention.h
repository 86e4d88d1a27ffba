// Attention over the sliding window and compressed entries, with a sink a head, and the rotation back of the
// result. One key, which is also the value, for all heads.
//
//   q, out [batch, heads, dim]; window [rows, window_slots, dim]; entries [pages, per_page, dim]; float32
//   bytes a row: 4 dim (keys) from memory, the same for each head from cache; FLOPs: 4 heads dim keys
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/hyper_connection.h"
#include "kernels/pages.h"

namespace dsv4::kernels {

struct Attention {
  const float* q;
  // Heads of q are normalised and their trailing pairs rotated first; with `prepared_q` [batch, heads, dim]
  // the result goes there, too. For a `dim` that is a multiple of 4 alone.
  bool prepares_q = false;
  float* prepared_q = nullptr;
  float eps = 0;
  const float* sink;  // [heads]
  // The keys of the row's last `window_tokens` positions, that of position p in slot p mod window_slots. More
  // slots than that hold tokens which the row feeds in the same step.
  const float* window;
  int window_slots, window_tokens;
  const float* entries;  // null: window alone
  Pages pages;
  int max_entries, ratio;
  const int* chosen;  // [batch, width], -1 padded; null: every closed entry
  int width;
  float* out;
  int heads, dim;
  const float* frequencies;
  int pairs;
  const int* positions;
  const int* rows = nullptr;  // [batch]: of which row a lane is (lanes.h); null: lane b of row b
};

constexpr int kMostHeadDim = 1024;
constexpr bool attention_prepares(int dim) {
  return dim % 4 == 0;
}

void attend(cudaStream_t stream, const Attention& args, int batch, const HyperConnectionMix& beside = {});

// Once at the start: shared memory for heads of `dim`, at most kMostHeadDim.
cudaError_t prepare_attention(int dim);

}  // namespace dsv4::kernels
