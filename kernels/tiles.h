// Weights as the streaming kernels read them (stream.h): laid out once, at load, in as many bytes as the
// checkpoint has, but for the scales of FP8.
//
// A slice is 16 rows x 256 columns in the order in which the lanes of a warp meet them in mma.m16n8k16; a
// tile is all slices of 16 rows, one after the other; a matrix is its tiles. Rows and columns that a matrix
// lacks are zero. In 32 columns from c, lane 4 g + t has columns c + 8 t to c + 8 t + 7 of rows g and g + 8:
//   FP4   4 x 512 bytes, a lane's 16 bytes side by side; then 16 bytes of E8M0 scales for each g
//   FP8   8 x 512 bytes; then four floats: the scales of rows 0 to 7 and 8 to 15 in the first 128 columns,
//         and in the others
//   BF16  16 x 512 bytes
// tile_weights.cu has the places of the single codes.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/matrix.h"

namespace dsv4::kernels {

constexpr int kTileRows = 16, kSliceCols = 256;
constexpr int kSlicesAtOnce = 16;  // of a tile: one for each warp of a block of stream.cu

template <Format F>
constexpr int kSliceBytes = F == Format::kFp4Row     ? 2048 + 128
                            : F == Format::kFp8Block ? 4096 + 16
                                                     : 8192;

constexpr int slice_bytes(Format format) {
  return format == Format::kFp4Row     ? kSliceBytes<Format::kFp4Row>
         : format == Format::kFp8Block ? kSliceBytes<Format::kFp8Block>
                                       : kSliceBytes<Format::kBf16>;
}

// A tile's slices, in parts of equal length that are streamed one after the other.
struct Slices {
  int chunks = 0, per_chunk = 0;
  constexpr int count() const { return chunks * per_chunk; }
};
constexpr Slices slices_of(int cols) {
  const int slices = (cols + kSliceCols - 1) / kSliceCols;
  const int chunks = (slices + kSlicesAtOnce - 1) / kSlicesAtOnce;
  return {chunks, (slices + chunks - 1) / chunks};
}
// Slices whose sums are added up first, a multiple of kSlicesInARow; sums of these follow in their order. So
// many that a product (product.h) has blocks for the chip, which do not wait for one another.
constexpr int kSlicesInARow = 4;
constexpr int slices_together(int rows, int cols) {
  const int slices = slices_of(cols).count();
  const int wanted = rows > 0 ? (1 << 14) / rows : 1, most = slices / 4;
  const int parts = wanted < most ? wanted : most;
  const int together = parts < 1 ? slices : (slices + parts - 1) / parts;
  return (together + kSlicesInARow - 1) / kSlicesInARow * kSlicesInARow;
}
constexpr std::int64_t tile_bytes(Format format, int cols) {
  return static_cast<std::int64_t>(slices_of(cols).count()) * slice_bytes(format);
}

// Whether there is a streaming kernel for the matrix on this device.
bool can_be_tiled(const Matrix& m);

// Bytes of `count` rows by `cols` columns in tiles.
constexpr std::int64_t tiled_bytes(Format format, std::int64_t rows, int cols) {
  return (rows + kTileRows - 1) / kTileRows * tile_bytes(format, cols);
}
// Of two matrices that stand side by side (lay_out_pair).
constexpr std::int64_t tiled_pair_bytes(Format format, int rows, int cols) {
  return (rows + kTileRows / 2 - 1) / (kTileRows / 2) * tile_bytes(format, cols);
}

// `from`, by rows, into tiles at `to`, aligned to 16 bytes.
//   bytes: all of it read and written once
Matrix lay_out(cudaStream_t stream, const Matrix& from, void* to);

// Two matrices of one shape and format in one: each tile has 8 rows of `first` and the same rows of `second`.
// The result has as many rows as both.
Matrix lay_out_pair(cudaStream_t stream, const Matrix& first, const Matrix& second, void* to);

}  // namespace dsv4::kernels
