// Random weights from a counter: each element is a function of (seed, tensor name, element index) alone, so
// that any machine can make any part of a model, in any order, and get the same bits. The rules, once (the
// Python twin is scripts/golden/dsv4_generator.py):
//
//   mix(z)        the finaliser of SplitMix64
//   key           mix(fnv1a64(name) ^ mix(seed)), name the upstream one; a block scale has its own name
//   bits(i)       mix(key + (i + 1) * 0x9E3779B97F4A7C15), i = row-major index in the logical shape
//   normal        s = sum of the four 16-bit parts of bits(i), minus 131070: an integer close to a normal
//                 distribution of standard deviation unit = sqrt((2^32 - 1) / 3). Value:
//                 float(s + floor(mean * unit / std + 0.5)) * float(std / unit):
//                 one exact conversion, one rounded product.
//   BF16          the value rounded to nearest even
//   FP8 code      sign = bit 0, mantissa = bits 1-3,
//                 exponent field = 14 - (trailing zeros of bits >> 4, at most 14): uniform in (-256, 256)
//   FP4 code      the low 4 bits
//   block scale   byte = 127 + floor(log2(std / std of the codes)) + (bits & 1)
//   hash table    slot j of a row: r = bits(i) mod (experts - j), then for each expert already taken,
//                 in ascending order: if r >= it, r += 1.
//                 In rows whose number is 15 mod 16 the last slot repeats the first.
//
// Means and deviations by role (moments() below) leave nothing at the trivial value of a default
// initialisation: sinks, biases, norms, mixers and tables all matter to the result.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/checkpoint/model_tensors.h"
#include "engine/checkpoint/tensor_view.h"

// The element functions are for kernels too.
#if defined(__CUDACC__)
#define DSV4_HOST_DEVICE __host__ __device__
#else
#define DSV4_HOST_DEVICE
#endif

namespace dsv4 {

DSV4_HOST_DEVICE constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

constexpr std::uint64_t tensor_key(std::uint64_t seed, std::string_view name) {
  std::uint64_t h = 0xCBF29CE484222325ull;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return mix64(h ^ mix64(seed));
}

DSV4_HOST_DEVICE constexpr std::uint64_t element_bits(std::uint64_t key, std::uint64_t index) {
  return mix64(key + (index + 1) * 0x9E3779B97F4A7C15ull);
}

// Close to normal, integer, within +-131070.
DSV4_HOST_DEVICE constexpr std::int32_t normal_sum(std::uint64_t bits) {
  return static_cast<std::int32_t>((bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) +
                                   (bits >> 48)) -
         131070;
}

// How a normal_sum becomes a value: float(sum + offset) * scale.
struct NormalScale {
  std::int32_t offset;
  float scale;
};

DSV4_HOST_DEVICE constexpr float normal_value(std::uint64_t bits, NormalScale s) {
  return static_cast<float>(normal_sum(bits) + s.offset) * s.scale;
}

DSV4_HOST_DEVICE constexpr std::uint8_t fp8_code(std::uint64_t bits) {
  const std::uint64_t rest = bits >> 4;
  int zeros = 0;
  while (zeros < 14 && (rest >> zeros & 1) == 0) ++zeros;
  return static_cast<std::uint8_t>((bits & 1) << 7 | static_cast<std::uint64_t>(14 - zeros) << 3 |
                                   (bits >> 1 & 7));
}

DSV4_HOST_DEVICE constexpr std::uint8_t fp4_code(std::uint64_t bits) {
  return static_cast<std::uint8_t>(bits & 15);
}

// How the elements of one stored tensor follow from their row-major index in it: the one place that host and
// device share.
struct ElementRule {
  std::uint64_t key;
  NormalScale scale;
  std::uint8_t scale_base;  // of block scales
};

DSV4_HOST_DEVICE constexpr float f32_element(const ElementRule& r, std::uint64_t index) {
  return normal_value(element_bits(r.key, index), r.scale);
}
// Rounded to nearest, ties to even.
DSV4_HOST_DEVICE inline std::uint16_t bf16_element(const ElementRule& r, std::uint64_t index) {
  const float value = f32_element(r, index);
#ifdef __CUDA_ARCH__
  const std::uint32_t bits = __float_as_uint(value);
#else
  const auto bits = std::bit_cast<std::uint32_t>(value);
#endif
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}
DSV4_HOST_DEVICE constexpr std::uint8_t fp8_element(const ElementRule& r, std::uint64_t index) {
  return fp8_code(element_bits(r.key, index));
}
// Two codes, of elements 2 * index and 2 * index + 1.
DSV4_HOST_DEVICE constexpr std::uint8_t fp4_pair_element(const ElementRule& r, std::uint64_t index) {
  return static_cast<std::uint8_t>(fp4_code(element_bits(r.key, 2 * index)) |
                                   fp4_code(element_bits(r.key, 2 * index + 1)) << 4);
}
DSV4_HOST_DEVICE constexpr std::uint8_t e8m0_element(const ElementRule& r, std::uint64_t index) {
  return static_cast<std::uint8_t>(r.scale_base + (element_bits(r.key, index) & 1));
}

struct Moments {
  double mean, std;
};
Moments moments(TensorRole role, std::int64_t row_length);
NormalScale normal_scale(Moments m);
// The smaller of the two exponent bytes that the block scales of a tensor take.
std::uint8_t scale_base(TensorRole role, std::int64_t row_length);

// What a generated checkpoint holds.
enum class Storage : std::uint8_t {
  kF32,        // float32 throughout (the golden models)
  kCheckpoint  // as published checkpoints: FP8 blocks, FP4 experts, BF16, float32 where those have it
};

// One tensor to write: a model tensor, or the block scale of one.
struct StoredTensor {
  std::string name;
  DType dtype;
  std::vector<std::int64_t> shape;
  TensorSpec of;
  bool is_scale;

  std::size_t bytes() const;
};
// A model's tensors in order, each scale after its codes. With Storage::kCheckpoint the row lengths of routed
// experts must be multiples of 32.
std::vector<StoredTensor> stored_tensors(const ModelConfig& config, Storage storage);

// Of any tensor but a hash table.
ElementRule element_rule(std::uint64_t seed, const StoredTensor& tensor);

// Bytes [first_row, first_row + rows) of the tensor into `out` (rows * bytes of a row).
void generate_rows(const ModelConfig& config, std::uint64_t seed, const StoredTensor& tensor,
                   std::int64_t first_row, std::int64_t rows, std::span<std::byte> out);

}  // namespace dsv4
