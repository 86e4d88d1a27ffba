// A block's share of a product (product.h): 128 rows of a matrix and some of its slices, for all vectors.
#pragma once

#include <algorithm>

#include "kernels/bulk_copy.cuh"
#include "kernels/follow.cuh"
#include "kernels/product_plan.h"
#include "kernels/stream_formats.cuh"
#include "kernels/stream_vectors.cuh"

namespace dsv4::kernels {

// Eight warps in kDown rows of kAcross: a warp has kTiles tiles of 16 rows and kOwn columns of eight vectors.
template <int kColumns>
struct ProductShape {
  static constexpr int kWarps = 8, kThreads = 32 * kWarps;
  static constexpr int kAcross = kColumns >= 4 ? 2 : 1, kDown = kWarps / kAcross;
  static constexpr int kTiles = kProductTiles / kDown, kOwn = kColumns / kAcross;
  static constexpr int kBlocks = kColumns <= 2 ? 2 : 1;  // of an SM
};

// A stage is half a slice, 128 columns: of each tile, then of the vectors; kStages of them in a ring.
template <Format F, int kColumns>
struct ProductMemory {
  static constexpr int kHalf = (kSliceBytes<F> / 2) & ~511;  // of a tile, without scales
  static constexpr int kScales = F == Format::kFp8Block ? 16 : 0;
  static constexpr int kScalesAt = kProductTiles * kHalf;
  static constexpr int kLimbsAt = kScalesAt + kProductTiles * kScales;
  static constexpr int kLimbBytes = 4 * kColumns * Streamed<F>::kLimbs * 512;
  static constexpr int kStage = kLimbsAt + kLimbBytes;
  static constexpr int kMost = (ProductShape<kColumns>::kBlocks > 1 ? 110 : 220) * 1024;
  static constexpr int kStages = std::min(6, (kMost - 128) / kStage);
  static constexpr int kBarriersAt = kStages * kStage;
  static constexpr int kBytes = kBarriersAt + 128;
  static_assert(kStages >= 2);
};

template <Format F, int kColumns>
class ProductPass {
  using S = Streamed<F>;
  using Shape = ProductShape<kColumns>;
  using M = ProductMemory<F, kColumns>;
  static constexpr int kLimbs = S::kLimbs, kTiles = Shape::kTiles, kOwn = Shape::kOwn;
  static constexpr int kRows = kColumns * kVectorsTogether;

 public:
  __device__ ProductPass(const ProductPlan& plan, const ProductTask& task, std::byte* memory)
      : p_(plan),
        t_(task),
        v_(plan.vectors[task.vectors]),
        memory_(memory),
        barriers_(reinterpret_cast<std::uint64_t*>(memory + M::kBarriersAt)),
        lane_(threadIdx.x % 32),
        warp_(threadIdx.x / 32) {
    const int local = static_cast<int>(blockIdx.x) - task.first_block;
    block_ = local / task.parts;
    part_ = local - block_ * task.parts;
    first_slice_ = part_ * task.together;
    halves_ = 2 * (min(first_slice_ + task.together, task.slices) - first_slice_);
    first_tile_ = block_ * kProductTiles;
    tiles_ = min(kProductTiles, task.tiles - first_tile_);
  }

  __device__ void run() {
    if (threadIdx.x == 0) {
      for (int i = 0; i < M::kStages; ++i) init_barrier(barriers_ + i);
      barriers_are_made();
    }
    __syncthreads();
    const int ahead = min(M::kStages, halves_);
    if (warp_ == 0) {
      for (int i = 0; i < ahead; ++i) expect(i);
      __syncwarp();
      for (int i = 0; i < ahead; ++i) ask_weights(i, i);
    }
    wait_for_previous();
    if (threadIdx.x == 0) {
      others_writes_are_seen();
      for (int i = 0; i < ahead; ++i) ask_limbs(i, i);
    }
    float y[kTiles][kOwn][4] = {};
    int stage = 0;
    unsigned parity = 0;
    [[maybe_unused]] float units[kOwn][2] = {};
    float c[kTiles][kOwn][kLimbs][4];
    [[maybe_unused]] float s[kTiles][kOwn][kLimbs][4];
#pragma unroll 1
    for (int half = 0; half < halves_; half += 2) {
      const int slice = first_slice_ + half / 2;
      if constexpr (F == Format::kFp8Block) {
        const float* const from = p_.room.units + v_.units_at + slice * kRows;
#pragma unroll
        for (int n = 0; n < kOwn; ++n) {
          units[n][0] = from[vector_of(n, 0)];
          units[n][1] = from[vector_of(n, 1)];
        }
      }
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        if (h == 0 || F == Format::kFp8Block) zero(c);
        wait_for(barriers_ + stage, parity);
        const std::byte* const there = memory_ + stage * M::kStage;
        meet(there, c);
        if constexpr (F == Format::kFp8Block) {
          if (h == 0) zero(s);
          scale(there, h, c, s);
        }
        reads_are_done();
        __syncthreads();
        if (warp_ == 0 && half + h + M::kStages < halves_) {
          expect(stage);
          __syncwarp();
          ask_weights(stage, half + h + M::kStages);
          if (lane_ == 0) ask_limbs(stage, half + h + M::kStages);
        }
        if (++stage == M::kStages) {
          stage = 0;
          parity ^= 1;
        }
      }
#pragma unroll
      for (int m = 0; m < kTiles; ++m)
#pragma unroll
        for (int n = 0; n < kOwn; ++n)
#pragma unroll
          for (int i = 0; i < 4; ++i)
            if constexpr (F == Format::kFp8Block)
              y[m][n][i] = __fadd_rn(
                  y[m][n][i], __fmul_rn(units[n][i % 2], fmaf(s[m][n][1][i], 1.0f / 2048, s[m][n][0][i])));
            else
              y[m][n][i] += (c[m][n][0][i] + c[m][n][1][i]) + c[m][n][2][i];
    }
    if (t_.parts > 1 && !all_parts(y)) return;
    finish(y);
  }

 private:
  using Accumulators = float[kTiles][kOwn][kLimbs][4];

  static __device__ void zero(Accumulators& of) {
#pragma unroll
    for (int m = 0; m < kTiles; ++m)
#pragma unroll
      for (int n = 0; n < kOwn; ++n)
#pragma unroll
        for (int l = 0; l < kLimbs; ++l)
#pragma unroll
          for (int i = 0; i < 4; ++i) of[m][n][l][i] = 0;
  }

  __device__ int own_tile(int m) const { return warp_ / Shape::kAcross * kTiles + m; }
  __device__ int own_column(int n) const { return warp_ % Shape::kAcross * kOwn + n; }
  // The vector of a lane's accumulators 0 and 2 (i = 0), 1 and 3 (i = 1).
  __device__ int vector_of(int n, int i) const {
    return own_column(n) * kVectorsTogether + 2 * (lane_ & 3) + i;
  }

  __device__ void expect(int stage) {
    if (lane_ == 0) expect_bytes(barriers_ + stage, tiles_ * (M::kHalf + M::kScales) + M::kLimbBytes);
  }
  // Half `half` of the block's; by a whole warp.
  __device__ void ask_weights(int stage, int half) {
    if (lane_ >= tiles_) return;
    const int slice = first_slice_ + half / 2;
    const std::byte* const from =
        t_.data + (static_cast<std::int64_t>(first_tile_ + lane_) * t_.slices + slice) * kSliceBytes<F>;
    std::byte* const to = memory_ + stage * M::kStage;
    bulk_copy(to + lane_ * M::kHalf, from + half % 2 * M::kHalf, M::kHalf, barriers_ + stage);
    if constexpr (M::kScales > 0)
      bulk_copy(to + M::kScalesAt + lane_ * M::kScales, from + 2 * M::kHalf, M::kScales, barriers_ + stage);
  }
  __device__ void ask_limbs(int stage, int half) {
    const auto* const from = static_cast<const std::byte*>(p_.room.limbs) + v_.limbs_at * 16 +
                             static_cast<std::int64_t>(2 * first_slice_ + half) * M::kLimbBytes;
    bulk_copy_of_many(memory_ + stage * M::kStage + M::kLimbsAt, from, M::kLimbBytes, barriers_ + stage);
  }

  // 128 columns of weights and vectors.
  __device__ void meet(const std::byte* there, Accumulators& c) const {
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      unsigned a[kTiles][2][4];
#pragma unroll
      for (int m = 0; m < kTiles; ++m) {
        const auto* const w = reinterpret_cast<const uint4*>(there + own_tile(m) * M::kHalf);
        if constexpr (F == Format::kFp8Block) {
          const uint4 v = w[q * 32 + lane_];
          a[m][0][0] = e4m3_halves(v.x), a[m][0][1] = e4m3_halves(v.x >> 16);
          a[m][0][2] = e4m3_halves(v.y), a[m][0][3] = e4m3_halves(v.y >> 16);
          a[m][1][0] = e4m3_halves(v.z), a[m][1][1] = e4m3_halves(v.z >> 16);
          a[m][1][2] = e4m3_halves(v.w), a[m][1][3] = e4m3_halves(v.w >> 16);
        } else {
#pragma unroll
          for (int k = 0; k < 2; ++k) {
            const uint4 v = w[(2 * q + k) * 32 + lane_];
            a[m][k][0] = v.x, a[m][k][1] = v.y, a[m][k][2] = v.z, a[m][k][3] = v.w;
          }
        }
      }
      const auto* const limbs = reinterpret_cast<const uint4*>(there + M::kLimbsAt);
#pragma unroll
      for (int n = 0; n < kOwn; ++n)
#pragma unroll
        for (int l = 0; l < kLimbs; ++l) {
          const uint4 b = limbs[((q * kColumns + own_column(n)) * kLimbs + l) * 32 + lane_];
#pragma unroll
          for (int m = 0; m < kTiles; ++m) {
            multiply<F>(c[m][n][l], a[m][0], b.x, b.y);
            multiply<F>(c[m][n][l], a[m][1], b.z, b.w);
          }
        }
    }
  }

  __device__ void scale(const std::byte* there, int half, const Accumulators& c, Accumulators& s) const {
#pragma unroll
    for (int m = 0; m < kTiles; ++m) {
      const auto* const scales =
          reinterpret_cast<const float*>(there + M::kScalesAt + own_tile(m) * M::kScales);
      const float low = scales[2 * half], high = scales[2 * half + 1];
#pragma unroll
      for (int n = 0; n < kOwn; ++n)
#pragma unroll
        for (int l = 0; l < kLimbs; ++l)
#pragma unroll
          for (int i = 0; i < 4; ++i) s[m][n][l][i] = fmaf(c[m][n][l][i], i < 2 ? low : high, s[m][n][l][i]);
    }
  }

  // Leaves the block's part; the last block of the rows gets the sum of all, in their order.
  __device__ bool all_parts(float (&y)[kTiles][kOwn][4]) {
    __shared__ bool last;
    constexpr int kThreads = Shape::kThreads, kWords = kTiles * kOwn;
    auto* const parts = reinterpret_cast<float4*>(p_.room.parts + t_.part_at) +
                        static_cast<std::int64_t>(block_) * t_.parts * kWords * kThreads;
#pragma unroll
    for (int m = 0; m < kTiles; ++m)
#pragma unroll
      for (int n = 0; n < kOwn; ++n)
        parts[(part_ * kWords + m * kOwn + n) * kThreads + threadIdx.x] = {y[m][n][0], y[m][n][1], y[m][n][2],
                                                                           y[m][n][3]};
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned* const count = p_.room.counts + t_.count_at + block_;
      last = atomicAdd(count, 1u) + 1 == static_cast<unsigned>(t_.parts);
      if (last) *count = 0;
    }
    __syncthreads();
    if (!last) return false;
    __threadfence();
#pragma unroll
    for (int m = 0; m < kTiles; ++m)
#pragma unroll
      for (int n = 0; n < kOwn; ++n) {
        float4 sum = {};
#pragma unroll 4
        for (int i = 0; i < t_.parts; ++i) {
          const float4 part = __ldcg(parts + (i * kWords + m * kOwn + n) * kThreads + threadIdx.x);
          sum = {sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w};
        }
        y[m][n][0] = sum.x, y[m][n][1] = sum.y, y[m][n][2] = sum.z, y[m][n][3] = sum.w;
      }
    return true;
  }

  __device__ float normalising(int vector) const {
    if (t_.norm == nullptr) return 1;
    return inverse_rms(p_.room.units + v_.units_at + v_.slices * kRows + vector * v_.slices, v_.slices,
                       v_.cols, t_.eps);
  }

  __device__ void finish(const float (&y)[kTiles][kOwn][4]) const {
    const int g = lane_ >> 2;
#pragma unroll
    for (int n = 0; n < kOwn; ++n)
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int vector = vector_of(n, i);
        if (vector >= p_.batch) continue;
        float* const to = t_.y + vector * t_.y_stride;
        const float factor = t_.factor * normalising(vector);
#pragma unroll
        for (int m = 0; m < kTiles; ++m) {
          const int tile = first_tile_ + own_tile(m);
          if (t_.pair) {
            const int out = tile * 8 + g;
            if (2 * out < t_.rows) to[out] = clamped_swiglu(y[m][n][i], y[m][n][2 + i], t_.limit);
          } else {
            const int out = tile * 16 + g;
            if (out < t_.rows) to[out] = y[m][n][i] * factor;
            if (out + 8 < t_.rows) to[out + 8] = y[m][n][2 + i] * factor;
          }
        }
      }
    if (t_.normed == nullptr || block_ != 0) return;
    for (int vector = 0; vector < p_.batch; ++vector) {
      const float inverse = normalising(vector);
      for (int i = threadIdx.x; i < v_.cols; i += Shape::kThreads)
        t_.normed[static_cast<std::int64_t>(vector) * v_.cols + i] =
            v_.x[vector * v_.x_stride + i] * inverse * t_.norm[i];
    }
  }

  const ProductPlan& p_;
  const ProductTask& t_;
  const ProductVectors& v_;
  std::byte* const memory_;
  std::uint64_t* const barriers_;
  const int lane_, warp_;
  int block_, part_, first_slice_, halves_, first_tile_, tiles_;
};

}  // namespace dsv4::kernels
