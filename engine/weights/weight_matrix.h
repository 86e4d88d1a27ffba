// A matrix in whichever format a checkpoint has it, read a row at a time: y = W x needs no dequantised copy.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "engine/checkpoint/number_formats.h"
#include "engine/checkpoint/tensor_view.h"

namespace dsv4 {

enum class WeightFormat : std::uint8_t {
  kF32,
  kBf16,
  kF16,
  kFp8Block,  // E4M3, one power-of-two (or float32) scale for 128 x 128 values
  kFp4Row     // E2M1, two in a byte (even column in the low half), one power-of-two scale for 32 columns of a
              // row
};

struct WeightMatrix {
  static constexpr int kFp8Block = 128;
  static constexpr int kFp4Group = 32;

  WeightFormat format = WeightFormat::kF32;
  int rows = 0;
  int cols = 0;
  const std::byte* data = nullptr;
  const std::byte* scale = nullptr;
  bool scale_is_f32 = false;  // FP8 only

  float scale_at(std::int64_t index) const {
    if (!scale_is_f32) return decode_e8m0(static_cast<std::uint8_t>(scale[index]));
    float value;
    std::memcpy(&value, scale + 4 * index, 4);
    return value;
  }

  // Values of row `row` into out[0, cols). Exact for T = float and double.
  template <class T>
  void decode_row(int row, T* out) const {
    const std::int64_t first = std::int64_t{row} * cols;
    switch (format) {
      case WeightFormat::kF32:
        for (int i = 0; i < cols; ++i) {
          float value;
          std::memcpy(&value, data + 4 * (first + i), 4);
          out[i] = static_cast<T>(value);
        }
        break;
      case WeightFormat::kBf16:
      case WeightFormat::kF16:
        for (int i = 0; i < cols; ++i) {
          std::uint16_t bits;
          std::memcpy(&bits, data + 2 * (first + i), 2);
          out[i] = static_cast<T>(format == WeightFormat::kBf16 ? decode_bf16(bits) : decode_f16(bits));
        }
        break;
      case WeightFormat::kFp8Block: {
        const std::int64_t blocks = (cols + kFp8Block - 1) / kFp8Block;
        for (int i = 0; i < cols; ++i) {
          const float s = scale_at(row / kFp8Block * blocks + i / kFp8Block);
          out[i] =
              static_cast<T>(decode_e4m3(static_cast<std::uint8_t>(data[first + i]))) * static_cast<T>(s);
        }
        break;
      }
      case WeightFormat::kFp4Row:
        for (int i = 0; i < cols; ++i) {
          const auto pair = static_cast<unsigned>(data[(first + i) / 2]);
          const float s = scale_at((first + i) / kFp4Group);
          out[i] = static_cast<T>(decode_e2m1(i % 2 ? pair >> 4 : pair & 15)) * static_cast<T>(s);
        }
        break;
    }
  }

  template <class T>
  std::vector<T> decode_all() const {
    std::vector<T> out(static_cast<std::size_t>(rows) * cols);
    for (int r = 0; r < rows; ++r) decode_row(r, out.data() + static_cast<std::size_t>(r) * cols);
    return out;
  }
};

// The experts of each token id, [vocab, k], int64 or int32.
struct HashTable {
  int k = 0;
  bool wide = true;
  const std::byte* data = nullptr;

  int expert(int token, int slot) const {
    const std::int64_t index = std::int64_t{token} * k + slot;
    std::int64_t value = 0;
    if (wide) {
      std::memcpy(&value, data + 8 * index, 8);
    } else {
      std::int32_t narrow;
      std::memcpy(&narrow, data + 4 * index, 4);
      value = narrow;
    }
    return static_cast<int>(value);
  }
};

}  // namespace dsv4
