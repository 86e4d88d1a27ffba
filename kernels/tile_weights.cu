#include <algorithm>
#include <cstdint>

#include "kernels/dequantise.cuh"
#include "kernels/launch.h"
#include "kernels/tiles.h"

namespace dsv4::kernels {
namespace {

// Where the values of a tile come from: 16 rows of one matrix, or 8 of each of two.
struct Source {
  Matrix first, second;
  bool pair;
  __device__ const Matrix& matrix(int half) const { return pair && half == 1 ? second : first; }
  __device__ int row(std::int64_t tile, int g, int half) const {
    return static_cast<int>(pair ? tile * 8 + g : tile * 16 + g + 8 * half);
  }
};

template <class T>
__device__ unsigned stored(const Matrix& m, int row, int col) {
  if (row >= m.rows || col >= m.cols) return 0;
  return static_cast<const T*>(m.data)[static_cast<std::int64_t>(row) * m.cols + col];
}
__device__ unsigned fp4_code(const Matrix& m, int row, int col) {
  if (row >= m.rows || col >= m.cols) return 0;
  const std::int64_t i = static_cast<std::int64_t>(row) * m.cols + col;
  return static_cast<const std::uint8_t*>(m.data)[i / 2] >> (i % 2 * 4) & 15u;
}

// Four codes in a half-word, so that two instructions bring each to where a half has its sign and the top of
// its magnitude (stream_formats.cuh: decode_fp4).
__device__ unsigned packed(const unsigned (&code)[4]) {
  return (code[0] & 8) << 12 | (code[0] & 7) << 9 | (code[1] & 8) << 9 | (code[1] & 7) << 6 |
         (code[2] & 8) << 11 | (code[2] & 7) << 3 | (code[3] & 8) << 10 | (code[3] & 7);
}

// Word `at` of the slice at (tile, col0).
template <Format F>
__device__ unsigned word_of(const Source& from, std::int64_t tile, int col0, int at) {
  const int lane = at / 4 % 32, j = at % 4, g = lane / 4, t = lane % 4;
  if constexpr (F == Format::kFp4Row) {
    if (at >= 512) {  // bytes: rows g and g + 8 of one group of 32 columns, then of the next
      const int row = (at - 512) / 4, word = at % 4;
      unsigned bytes = 0;
      for (int n = 0; n < 4; ++n) {
        const Matrix& m = from.matrix(n % 2);
        const int r = from.row(tile, row, n % 2), col = col0 + 32 * (2 * word + n / 2);
        if (r < m.rows && col < m.cols)
          bytes |= static_cast<unsigned>(static_cast<const std::uint8_t*>(
                       m.scale)[(static_cast<std::int64_t>(r) * m.cols + col) / 32])
                   << 8 * n;
      }
      return bytes;
    }
    const int c = col0 + 32 * (2 * (at / 128) + j / 2) + 8 * t + 4 * (j % 2);
    const int low = from.row(tile, g, 0), high = from.row(tile, g, 1);
    unsigned word = 0;
    for (int odd = 0; odd < 2; ++odd) {
      const unsigned code[4] = {
          fp4_code(from.matrix(0), low, c + odd), fp4_code(from.matrix(1), high, c + odd),
          fp4_code(from.matrix(0), low, c + 2 + odd), fp4_code(from.matrix(1), high, c + 2 + odd)};
      word |= packed(code) << 16 * odd;
    }
    return word;
  } else if constexpr (F == Format::kFp8Block) {
    if (at >= 1024) {
      const int half = at % 2, col = col0 + (at - 1024) / 2 * 128;
      const Matrix& m = from.matrix(half);
      const int row = from.row(tile, 0, half);
      return row < m.rows && col < m.cols ? __float_as_uint(scale_of<F>(m, row, col)) : 0u;
    }
    const int c = col0 + 32 * (at / 128) + 8 * t + 2 * j;
    unsigned word = 0;
    for (int half = 0; half < 2; ++half)
      for (int i = 0; i < 2; ++i)
        word |= stored<std::uint8_t>(from.matrix(half), from.row(tile, g, half), c + i)
                << (16 * half + 8 * i);
    return word;
  } else {
    const int half = j % 2, c = col0 + 32 * (at / 256) + 8 * t + 4 * (at / 128 % 2) + 2 * (j / 2);
    const Matrix& m = from.matrix(half);
    const int row = from.row(tile, g, half);
    return stored<std::uint16_t>(m, row, c) | stored<std::uint16_t>(m, row, c + 1) << 16;
  }
}

template <Format F>
__global__ void tile_kernel(const Source from, unsigned* to, std::int64_t tiles, int slices) {
  constexpr int kWords = kSliceBytes<F> / 4;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < tiles * slices * kWords; i += step) {
    const std::int64_t slice = i / kWords;
    to[i] = word_of<F>(from, slice / slices, static_cast<int>(slice % slices) * kSliceCols,
                       static_cast<int>(i % kWords));
  }
}

Matrix lay_out(cudaStream_t stream, const Source& from, std::int64_t tiles, int rows, void* to) {
  const Matrix& m = from.first;
  const int slices = slices_of(m.cols).count();
  const std::int64_t words = tiles * tile_bytes(m.format, m.cols) / 4;
  const int blocks = static_cast<int>(std::min<std::int64_t>((words + 255) / 256, 132 * 32));
  auto* const out = static_cast<unsigned*>(to);
  if (m.format == Format::kFp4Row)
    tile_kernel<Format::kFp4Row><<<blocks, 256, 0, stream>>>(from, out, tiles, slices);
  else if (m.format == Format::kFp8Block)
    tile_kernel<Format::kFp8Block><<<blocks, 256, 0, stream>>>(from, out, tiles, slices);
  else
    tile_kernel<Format::kBf16><<<blocks, 256, 0, stream>>>(from, out, tiles, slices);
  return {to, nullptr, rows, m.cols, m.format, false, Layout::kTiles};
}

}  // namespace

bool can_be_tiled(const Matrix& m) {
  return streams_weights() && m.rows > 0 && m.cols > 0 && m.cols <= kSliceCols * kSlicesAtOnce * 16 &&
         (m.format == Format::kFp4Row || m.format == Format::kFp8Block || m.format == Format::kBf16);
}

Matrix lay_out(cudaStream_t stream, const Matrix& from, void* to) {
  return lay_out(stream, {from, from, false}, (from.rows + kTileRows - 1) / kTileRows, from.rows, to);
}

Matrix lay_out_pair(cudaStream_t stream, const Matrix& first, const Matrix& second, void* to) {
  constexpr int kHalf = kTileRows / 2;
  return lay_out(stream, {first, second, true}, (first.rows + kHalf - 1) / kHalf, 2 * first.rows, to);
}

}  // namespace dsv4::kernels
