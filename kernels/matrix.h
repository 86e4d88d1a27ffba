// A weight matrix in device memory, in whichever format the checkpoint has it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dsv4::kernels {

enum class Format : std::uint8_t {
  kF32,
  kBf16,
  kF16,
  kFp8Block,  // E4M3, one scale for 128 x 128 values
  kFp4Row     // E2M1, even column in the low half of a byte, one E8M0 scale for 32 columns of a row
};

enum class Layout : std::uint8_t {
  kRows,  // row-major, as the checkpoint has it
  kTiles  // as the streaming kernels read it, scales and codes together in `data` (tiles.h)
};

// `data` is aligned to 16 bytes.
struct Matrix {
  const void* data = nullptr;
  const void* scale = nullptr;
  int rows = 0, cols = 0;
  Format format = Format::kF32;
  bool scale_is_f32 = false;  // FP8 only; otherwise E8M0
  Layout layout = Layout::kRows;
};

constexpr std::int64_t data_bytes(Format format, std::int64_t rows, std::int64_t cols) {
  switch (format) {
    case Format::kF32:
      return 4 * rows * cols;
    case Format::kBf16:
    case Format::kF16:
      return 2 * rows * cols;
    case Format::kFp8Block:
      return rows * cols;
    case Format::kFp4Row:
      return rows * cols / 2;
  }
  return 0;
}

constexpr std::int64_t scale_bytes(Format format, bool scale_is_f32, std::int64_t rows, std::int64_t cols) {
  if (format == Format::kFp8Block) return (rows + 127) / 128 * ((cols + 127) / 128) * (scale_is_f32 ? 4 : 1);
  return format == Format::kFp4Row ? rows * (cols / 32) : 0;
}

}  // namespace dsv4::kernels
