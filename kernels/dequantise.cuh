// Weights become floats in registers, four at a time; a matrix is read in chunks of 16 bytes.
#pragma once

#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "kernels/matrix.h"

namespace dsv4::kernels {

// Values in 16 bytes.
template <Format F>
constexpr int kChunk = F == Format::kF32        ? 4
                       : F == Format::kFp8Block ? 16
                       : F == Format::kFp4Row   ? 32
                                                : 8;

__device__ inline float e8m0(unsigned byte) {
  if (byte == 0) return __uint_as_float(0x00400000u);
  return byte == 255 ? __uint_as_float(0x7FC00000u) : __uint_as_float(byte << 23);
}

// Exact through half precision, where a code's value is smaller by 2^14: three bits moved to the top of the
// mantissa read as the same number, subnormal codes included.
__device__ inline float2 e2m1_pair(unsigned low, unsigned high) {
  const unsigned bits = (low & 7u) << 9 | (low & 8u) << 12 | (high & 7u) << 25 | (high & 8u) << 28;
  __half2_raw raw;
  raw.x = static_cast<unsigned short>(bits & 0xFFFFu);
  raw.y = static_cast<unsigned short>(bits >> 16);
  return __half22float2(__half2(raw));
}
constexpr float kE2m1Unit = 16384.0f;

__device__ inline float2 half_pair(unsigned bits) {
  __half2_raw raw;
  raw.x = static_cast<unsigned short>(bits & 0xFFFFu);
  raw.y = static_cast<unsigned short>(bits >> 16);
  return __half22float2(__half2(raw));
}

__device__ inline float2 e4m3_pair(unsigned bits) {
  return __half22float2(
      __half2(__nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(bits & 0xFFFFu), __NV_E4M3)));
}

__device__ inline unsigned word(const uint4& v, int i) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

// Values 4t to 4t + 3 of a chunk, without its scale; `t` is a compile-time constant after unrolling. Those of
// FP4 are smaller by kE2m1Unit.
template <Format F>
__device__ inline float4 decode4(const uint4& bits, int t) {
  if constexpr (F == Format::kF32) {
    return {__uint_as_float(bits.x), __uint_as_float(bits.y), __uint_as_float(bits.z),
            __uint_as_float(bits.w)};
  } else if constexpr (F == Format::kBf16) {
    const unsigned a = word(bits, 2 * t), b = word(bits, 2 * t + 1);
    return {__uint_as_float(a << 16), __uint_as_float(a & 0xFFFF0000u), __uint_as_float(b << 16),
            __uint_as_float(b & 0xFFFF0000u)};
  } else if constexpr (F == Format::kF16) {
    const float2 a = half_pair(word(bits, 2 * t)), b = half_pair(word(bits, 2 * t + 1));
    return {a.x, a.y, b.x, b.y};
  } else if constexpr (F == Format::kFp8Block) {
    const float2 a = e4m3_pair(word(bits, t)), b = e4m3_pair(word(bits, t) >> 16);
    return {a.x, a.y, b.x, b.y};
  } else {
    const unsigned q = word(bits, t / 2) >> (t % 2 ? 16 : 0);
    const float2 a = e2m1_pair(q & 15u, q >> 4 & 15u), b = e2m1_pair(q >> 8 & 15u, q >> 12 & 15u);
    return {a.x, a.y, b.x, b.y};
  }
}

__device__ inline float block_scale(const Matrix& m, std::int64_t index) {
  return m.scale_is_f32 ? static_cast<const float*>(m.scale)[index]
                        : e8m0(static_cast<const std::uint8_t*>(m.scale)[index]);
}

// The scale of column `col` of a row; 1 where the format has none.
template <Format F>
__device__ inline float scale_of(const Matrix& m, int row, int col) {
  if constexpr (F == Format::kFp8Block)
    return block_scale(m, std::int64_t{row >> 7} * ((m.cols + 127) >> 7) + (col >> 7));
  else if constexpr (F == Format::kFp4Row)
    return kE2m1Unit * e8m0(static_cast<const std::uint8_t*>(
                           m.scale)[(static_cast<std::int64_t>(row) * m.cols + col) >> 5]);
  else
    return 1.0f;
}

// One value, for shapes whose rows are no whole number of chunks.
template <Format F>
__device__ inline float value_at(const Matrix& m, int row, int col) {
  const std::int64_t i = static_cast<std::int64_t>(row) * m.cols + col;
  if constexpr (F == Format::kF32) return static_cast<const float*>(m.data)[i];
  if constexpr (F == Format::kBf16)
    return __uint_as_float(static_cast<unsigned>(static_cast<const std::uint16_t*>(m.data)[i]) << 16);
  if constexpr (F == Format::kF16) return half_pair(static_cast<const std::uint16_t*>(m.data)[i]).x;
  const unsigned byte = static_cast<const std::uint8_t*>(m.data)[F == Format::kFp4Row ? i / 2 : i];
  if constexpr (F == Format::kFp8Block) return e4m3_pair(byte).x * scale_of<F>(m, row, col);
  return e2m1_pair(i % 2 ? byte >> 4 : byte & 15u, 0).x * scale_of<F>(m, row, col);
}

__device__ inline float value_at(const Matrix& m, int row, int col) {
  switch (m.format) {
    case Format::kF32:
      return value_at<Format::kF32>(m, row, col);
    case Format::kBf16:
      return value_at<Format::kBf16>(m, row, col);
    case Format::kF16:
      return value_at<Format::kF16>(m, row, col);
    case Format::kFp8Block:
      return value_at<Format::kFp8Block>(m, row, col);
    default:
      return value_at<Format::kFp4Row>(m, row, col);
  }
}

// Chunks of R rows under way, fetched before the vector that they meet is there.
template <int R>
struct Ahead {
  static constexpr int kSteps = R == 1 ? 2 : 1;
  uint4 bits[kSteps][R];
};

__device__ inline int chunks_of(const Matrix& m) {
  return m.cols >> (m.format == Format::kF32        ? 2
                    : m.format == Format::kFp8Block ? 4
                    : m.format == Format::kFp4Row   ? 5
                                                    : 3);
}

// Every `step`-th chunk from `first` of R rows, one `pitch` apart.
template <int R>
__device__ inline Ahead<R> fetch(const uint4* row, int pitch, int first, int step, int chunks) {
  Ahead<R> ahead{};
#pragma unroll
  for (int i = 0; i < Ahead<R>::kSteps; ++i)
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (first + i * step < chunks) ahead.bits[i][r] = __ldcs(row + r * pitch + first + i * step);
  return ahead;
}

// What the thread will need first of rows `row` to row + R - 1; nothing where they are no whole number of
// chunks.
template <int R>
__device__ inline Ahead<R> fetch_first(const Matrix& m, int row, int first, int step, bool chunked) {
  if (!chunked) return {};
  const int chunks = chunks_of(m);
  return fetch<R>(reinterpret_cast<const uint4*>(m.data) + static_cast<std::int64_t>(row) * chunks, chunks,
                  first, step, chunks);
}

// sum[r][b] += what this thread has of <row row + r, x_b>: every `step`-th chunk from `first`, of which
// fetch_first gave the first ones. x[b] are float vectors aligned to 16 bytes when `chunked`; R rows share
// what is read of them. The order of the sums depends neither on NB nor on R.
template <Format F, int NB, int R>
__device__ inline void add_dot(const Matrix& m, int row, const float* const (&x)[NB], int first, int step,
                               bool chunked, Ahead<R> ahead, float (&sum)[R][NB]) {
  if (!chunked) {
#pragma unroll 1
    for (int i = first; i < m.cols; i += step) {
#pragma unroll
      for (int r = 0; r < R; ++r) {
        const float w = value_at<F>(m, row + r, i);
#pragma unroll
        for (int b = 0; b < NB; ++b) sum[r][b] = fmaf(w, x[b][i], sum[r][b]);
      }
    }
    return;
  }
  constexpr int kValues = kChunk<F>, kSteps = Ahead<R>::kSteps;
  const int chunks = static_cast<unsigned>(m.cols) / kValues;
  const uint4* data = reinterpret_cast<const uint4*>(m.data) + static_cast<std::int64_t>(row) * chunks;
#pragma unroll 1
  for (int start = first; start < chunks; start += kSteps * step) {
    Ahead<R> next;
    if (start + kSteps * step < chunks) next = fetch<R>(data, chunks, start + kSteps * step, step, chunks);
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const int c = start + i * step;
      if (c >= chunks) break;
      float part[R][NB] = {};
#pragma unroll
      for (int t = 0; t < kValues / 4; ++t) {
        float4 v[NB];
#pragma unroll
        for (int b = 0; b < NB; ++b) v[b] = *reinterpret_cast<const float4*>(x[b] + c * kValues + 4 * t);
#pragma unroll
        for (int r = 0; r < R; ++r) {
          const float4 w = decode4<F>(ahead.bits[i][r], t);
#pragma unroll
          for (int b = 0; b < NB; ++b)
            part[r][b] =
                fmaf(w.w, v[b].w, fmaf(w.z, v[b].z, fmaf(w.y, v[b].y, fmaf(w.x, v[b].x, part[r][b]))));
        }
      }
#pragma unroll
      for (int r = 0; r < R; ++r) {
        const float scale = scale_of<F>(m, row + r, c * kValues);
#pragma unroll
        for (int b = 0; b < NB; ++b) sum[r][b] = fmaf(part[r][b], scale, sum[r][b]);
      }
    }
    ahead = next;
  }
}

template <int NB, int R>
__device__ inline void add_dot(const Matrix& m, int row, const float* const (&x)[NB], int first, int step,
                               bool chunked, const Ahead<R>& ahead, float (&sum)[R][NB]) {
  switch (m.format) {
    case Format::kF32:
      return add_dot<Format::kF32, NB, R>(m, row, x, first, step, chunked, ahead, sum);
    case Format::kBf16:
      return add_dot<Format::kBf16, NB, R>(m, row, x, first, step, chunked, ahead, sum);
    case Format::kF16:
      return add_dot<Format::kF16, NB, R>(m, row, x, first, step, chunked, ahead, sum);
    case Format::kFp8Block:
      return add_dot<Format::kFp8Block, NB, R>(m, row, x, first, step, chunked, ahead, sum);
    case Format::kFp4Row:
      return add_dot<Format::kFp4Row, NB, R>(m, row, x, first, step, chunked, ahead, sum);
  }
}

// Whether rows of this matrix can be read in whole chunks.
inline bool whole_chunks(const Matrix& m) {
  const int values = m.format == Format::kF32        ? 4
                     : m.format == Format::kFp8Block ? 16
                     : m.format == Format::kFp4Row   ? 32
                                                     : 8;
  return m.cols % values == 0;
}

}  // namespace dsv4::kernels
