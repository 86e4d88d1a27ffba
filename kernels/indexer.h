// The lightning indexer: scores of compressed entries, and the fixed-width choice of the best.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/pages.h"

namespace dsv4::kernels {

struct IndexScores {
  const float* query;    // [batch, heads, dim]
  const float* weights;  // [batch, heads], scaled by heads^-1/2
  const float* keys;     // [pages, per_page, dim]
  float* scores;         // [batch, max_entries]; -inf from the first entry that is not closed yet
  int heads, dim, max_entries, ratio;
  const int* positions;
  // The query's trailing pairs are rotated to the row's position first. Null: it is as it should be.
  const float* frequencies = nullptr;
  int pairs = 0;
  float* rotated = nullptr;  // where the rotated query goes, too, if anywhere
  // Of a lane with so many closed entries or fewer nothing is scored and nothing written: all of them are
  // chosen anyway (choose_entries looks at no score where k are not fewer).
  int unscored = 0;
  Pages pages{};
  const int* rows = nullptr;  // [batch]: of which row a lane is (lanes.h); null: lane b of row b
};

// score[w] = sum_h weights[h] relu(<query_h, key_w> dim^-1/2)
//   bytes a row: 4 dim a closed entry; FLOPs: 2 heads dim a closed entry
void index_scores(cudaStream_t stream, const IndexScores& args, int batch);

// Once at the start: shared memory for a query of this shape.
cudaError_t prepare_index_scores(int heads, int dim);

// Choices that are made elsewhere take the place of the kernel's own where count[b] >= 0: a verification that
// must not diverge over a rounding error. Null in every other use.
struct ForcedChoice {
  const int* chosen = nullptr;  // [batch, k]
  const int* count = nullptr;   // [batch]
};

// The min(k, closed) largest of each row's closed entries, ascending, then -1: chosen [batch, k].
//   bytes a row: 4 closed, five times (from cache) where closed > k
void choose_entries(cudaStream_t stream, const float* scores, int max_entries, int ratio,
                    const int* positions, int k, int* chosen, ForcedChoice forced, int batch);

}  // namespace dsv4::kernels
