// One block's share of a streamed matrix (stream.h).
#pragma once

#include <algorithm>

#include "kernels/bulk_copy.cuh"
#include "kernels/stream_formats.cuh"
#include "kernels/stream_plan.h"
#include "kernels/stream_vectors.cuh"

namespace dsv4::kernels {

// Shared memory of a block: the warps' rings, limbs and barriers, then the sums of slices of each vector.
struct StreamMemory {
  static constexpr int kWarps = kSlicesAtOnce, kThreads = 32 * kWarps, kMostVectors = 4;
  template <Format F>
  static constexpr int kRing = Streamed<F>::kStages * Streamed<F>::kBytes;
  static constexpr int kMostStages = 4;
  static constexpr int kLimbsAt =
      kWarps * std::max({kRing<Format::kFp4Row>, kRing<Format::kFp8Block>, kRing<Format::kBf16>});
  static constexpr int kBarriersAt = kLimbsAt + kWarps * 16 * Streamed<Format::kBf16>::kLimbWords;
  static constexpr int kMostSlices = kSlicesAtOnce * kSlicesAtOnce;          // of a tile
  static constexpr int kSquaresAt = kBarriersAt + kWarps * 8 * kMostStages;  // of each vector's slices
  static constexpr int kPartsAt = kSquaresAt + 4 * kMostSlices * kMostVectors;
  static constexpr int kPartBytes = 4 * kWarps * kSlicesAtOnce * kTileRows;  // of one vector
  static constexpr int bytes(int vectors) { return kPartsAt + kPartBytes * vectors; }
};

// Vectors that meet the same weights; several lie in shared memory.
template <bool kOne>
struct Vectors {
  const float* x[kOne ? 1 : StreamMemory::kMostVectors];
  float* y[kOne ? 1 : StreamMemory::kMostVectors];
};

// The warp's ring of pieces. It outlives a pass: its barriers are made once.
template <Format F>
class WarpRing : public Ring<Streamed<F>::kStages, Streamed<F>::kBytes> {
  using M = StreamMemory;

 public:
  __device__ explicit WarpRing(std::byte* memory)
      : Ring<Streamed<F>::kStages, Streamed<F>::kBytes>(
            memory + threadIdx.x / 32 * M::kRing<F>,
            reinterpret_cast<std::uint64_t*>(memory + M::kBarriersAt) + threadIdx.x / 32 * M::kMostStages) {
    this->init(threadIdx.x % 32);
  }
};

// A block's share of one matrix, for the vectors of one pass. kOne: there is one, and its code is shorter.
template <Format F, bool kOne>
class Pass {
  using S = Streamed<F>;
  using M = StreamMemory;
  static constexpr int kRows = kOne ? 1 : S::kRows;

 public:
  __device__ Pass(const StreamPlan::Entry& entry, const StreamShare& share, std::byte* memory,
                  WarpRing<F>& ring)
      : e_(entry),
        share_(share),
        lane_(threadIdx.x % 32),
        warp_(threadIdx.x / 32),
        ring_(ring),
        room_(reinterpret_cast<uint4*>(memory + M::kLimbsAt) + warp_ * S::kLimbWords),
        squares_(reinterpret_cast<float*>(memory + M::kSquaresAt)),
        parts_(reinterpret_cast<float*>(memory + M::kPartsAt)) {
    stream_ = warp_ / e_.per_chunk;
    slice_ = warp_ - stream_ * e_.per_chunk;
    turns_ = (share.tiles + e_.streams - 1) / e_.streams;
    mine_ = stream_ < e_.streams ? (share.tiles - stream_ + e_.streams - 1) / e_.streams : 0;
  }

  // Asks for up to `count` pieces of the matrix at `data`.
  __device__ void begin(const std::byte* data, int count) {
    const int slices = e_.chunks * e_.per_chunk;
    tile_bytes_ = slices * kSliceBytes<F>;
    from_ =
        data + static_cast<std::int64_t>(share_.first_tile + stream_) * tile_bytes_ + slice_ * kSliceBytes<F>;
    asked_ = {};
    stage_asked_ = ring_.stage();
    ask(count);
  }

  // All of it, for `count` vectors.
  __device__ void run(const Vectors<kOne>& v, int count) {
    if (mine_ > 0) load(v, count, 0);
    ask(S::kStages - S::kAtFirst);  // what is left of the ring
    for (int first = 0; first < turns_; first += e_.room) {
      const int stop = min(first + e_.room, mine_);
#pragma unroll 1
      for (int chunk = 0; chunk < e_.chunks; ++chunk) {
        if (mine_ > 0 && first + chunk > 0 && e_.chunks > 1) load(v, count, chunk);
#pragma unroll 1
        for (int turn = first; turn < stop; ++turn) {
          Sums<F, kOne> sums;
#pragma unroll
          for (int piece = 0; piece < S::kPieces; ++piece) {
            Bits<F, kOne> bits;
            bits.fetch(ring_.take(), lane_);
            reads_are_done();
            __syncwarp();
            ask_into(ring_.stage());
            ring_.next();
            sums.add(bits, b_ + piece * S::kBlocks);
          }
          keep(sums, turn - first, chunk, count);
        }
      }
      together(first, min(first + e_.room, turns_), v, count);
    }
  }

 private:
  // The order in which pieces are used: turns within a chunk within a room.
  struct Place {
    int first = 0, chunk = 0, turn = 0, piece = 0;
  };
  __device__ void ask(int count) {
    for (int i = 0; i < count; ++i) {
      ask_into(stage_asked_);
      if (++stage_asked_ == S::kStages) stage_asked_ = 0;
    }
  }
  __device__ void ask_into(int stage) {
    if (lane_ != 0 || asked_.turn >= mine_) return;
    ring_.ask(stage, from_ + static_cast<std::int64_t>(asked_.turn) * e_.streams * tile_bytes_ +
                         asked_.chunk * e_.per_chunk * kSliceBytes<F> + asked_.piece * S::kBytes);
    if (S::kPieces > 1 && ++asked_.piece < S::kPieces) return;
    asked_.piece = 0;
    if (++asked_.turn < min(asked_.first + e_.room, mine_)) return;
    if (++asked_.chunk < e_.chunks) {
      asked_.turn = asked_.first;
      return;
    }
    asked_.chunk = 0;
    asked_.turn = asked_.first += e_.room;
  }

  // The slice's columns of the vectors; where these are to be normalised, times the norm's weights, and their
  // squares go to where the other slices' are.
  __device__ void load(const Vectors<kOne>& v, int count, int chunk) {
    const int cols = e_.task.w.cols, slice = chunk * e_.per_chunk + slice_,
              col = slice * kSliceCols + 8 * lane_;
    const bool whole = e_.whole;
    const float* const norm = e_.task.norm;
    const auto normalise = [&](int r, float4(&x)[2]) {
      if (norm == nullptr) return;
      float4 weight[2];
      eight_of(norm, col, cols, whole, weight);
      const float squares = weigh(x, weight);
      if (lane_ == 0 && stream_ == 0) squares_[r * M::kMostSlices + slice] = squares;
    };
    const auto values = [&](int r, float4(&to)[2]) { eight_of(v.x[r], col, cols, whole, to); };
    unit_ = load_fragments<F, kOne>(b_, room_, count, lane_, values, normalise);
  }
  // 1 / rms of vector r, once all slices have been loaded.
  __device__ float normalising(int r) const {
    if (e_.task.norm == nullptr) return 1;
    return inverse_rms(squares_ + r * M::kMostSlices, e_.chunks * e_.per_chunk, e_.task.w.cols, e_.task.eps);
  }

  // A slice's sums to where the other slices' are: [turn, stream, vector, slice, 16].
  __device__ void keep(const Sums<F, kOne>& sums, int turn, int chunk, int vectors) {
    const float low = unit_ * sums.total(0), high = unit_ * sums.total(1);
    const int g = lane_ >> 2, t = lane_ & 3, row = row_of<F>(t);
    if (row >= vectors || (F == Format::kBf16 && (t & 1) != 0)) return;
    const int slices = e_.chunks * e_.per_chunk;
    float* const to =
        parts_ +
        (((turn * e_.streams + stream_) * kRows + row) * slices + chunk * e_.per_chunk + slice_) * kTileRows +
        g;
    to[0] = low;
    to[8] = high;
  }

  __device__ void together(int first, int stop, const Vectors<kOne>& v, int count) {
    __syncthreads();
    const StreamTask& task = e_.task;
    const int tile0 = first * e_.streams, tiles = min(stop * e_.streams, share_.tiles) - tile0;
    const int slices = e_.chunks * e_.per_chunk;
    if (task.pair) {
      for (int i = threadIdx.x; i < tiles * kRows * 8; i += M::kThreads) {
        const int n = i & 7, at = i >> 3, r = at % kRows,
                  out = (share_.first_tile + tile0 + at / kRows) * 8 + n;
        if (r >= count || 2 * out >= task.w.rows) continue;
        v.y[r][out] = clamped_swiglu(sum(at, slices, n), sum(at, slices, n + 8), task.limit);
      }
    } else {
      for (int i = threadIdx.x; i < tiles * kRows * 16; i += M::kThreads) {
        const int n = i & 15, at = i >> 4, r = at % kRows,
                  out = (share_.first_tile + tile0 + at / kRows) * 16 + n;
        if (r >= count || out >= task.w.rows) continue;
        v.y[r][out] = sum(at, slices, n) * (task.factor * normalising(r));
      }
    }
    if (task.normed != nullptr && share_.first_tile == 0 && first == 0)
      for (int r = 0; r < count; ++r)
        for (int i = threadIdx.x; i < task.w.cols; i += M::kThreads)
          task.normed[static_cast<std::int64_t>(blockIdx.y * kRows + r) * task.w.cols + i] =
              v.x[r][i] * normalising(r) * task.norm[i];
    __syncthreads();
  }
  __device__ float sum(int at, int slices, int n) const {
    const float* const p = parts_ + at * slices * kTileRows + n;
    float y = 0, part = 0;
    int left = e_.together;
#pragma unroll 2
    for (int first = 0; first < slices; first += kSlicesInARow) {
      float some[kSlicesInARow];
#pragma unroll
      for (int i = 0; i < kSlicesInARow; ++i)
        some[i] = first + i < slices ? p[(first + i) * kTileRows] : 0.0f;
#pragma unroll
      for (int i = 0; i < kSlicesInARow; ++i) part += some[i];
      left -= kSlicesInARow;
      if (left == 0) {
        y += part;
        part = 0;
        left = e_.together;
      }
    }
    return left == e_.together ? y : y + part;
  }

  const StreamPlan::Entry& e_;
  const StreamShare& share_;
  const int lane_, warp_;
  WarpRing<F>& ring_;
  uint4* const room_;
  float* const squares_;
  float* const parts_;
  int stream_, slice_, turns_, mine_, tile_bytes_ = 0, stage_asked_ = 0;
  const std::byte* from_ = nullptr;
  Place asked_;
  uint4 b_[8];
  float unit_ = 0;
};

}  // namespace dsv4::kernels
