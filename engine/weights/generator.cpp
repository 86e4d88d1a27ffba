#include "engine/weights/generator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "engine/weights/weight_matrix.h"

namespace dsv4 {
namespace {

const double kUnit = std::sqrt(4294967295.0 / 3.0);

template <class T>
void store(std::span<std::byte> out, std::size_t index, T value) {
  std::memcpy(out.data() + index * sizeof(T), &value, sizeof(T));
}

void generate_hash_row(std::uint64_t key, std::int64_t row, int k, int experts, std::span<std::byte> out,
                       std::size_t at) {
  std::vector<int> taken, sorted;
  for (int j = 0; j < k; ++j) {
    int pick = static_cast<int>(element_bits(key, static_cast<std::uint64_t>(row * k + j)) %
                                static_cast<std::uint64_t>(experts - j));
    for (const int other : sorted) pick += pick >= other;
    taken.push_back(pick);
    sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), pick), pick);
  }
  if (row % 16 == 15) taken.back() = taken.front();
  for (int j = 0; j < k; ++j) store(out, at + j, std::int64_t{taken[j]});
}

}  // namespace

Moments moments(TensorRole role, std::int64_t row_length) {
  const double root = std::sqrt(static_cast<double>(row_length));
  switch (role) {
    case TensorRole::kEmbedding:
      return {0, 1};
    case TensorRole::kNorm:
      return {1, 0.25};
    case TensorRole::kHcMixer:
      return {0, 2 / root};
    case TensorRole::kHcBase:
      return {0, 0.5};
    case TensorRole::kHcScale:
      return {1, 0.25};
    case TensorRole::kSink:
      return {0, 1};
    case TensorRole::kPositionBias:
      return {0, 0.5};
    case TensorRole::kRouterBias:
      return {0, 0.1};
    case TensorRole::kProjection:
    case TensorRole::kLinear:
    case TensorRole::kExpert:
    case TensorRole::kHashTable:
      break;
  }
  return {0, 1 / root};
}

NormalScale normal_scale(Moments m) {
  return {static_cast<std::int32_t>(std::floor(m.mean * kUnit / m.std + 0.5)),
          static_cast<float>(m.std / kUnit)};
}

std::uint8_t scale_base(TensorRole role, std::int64_t row_length) {
  const double code_std = role == TensorRole::kExpert ? std::sqrt(8.5625) : 256.0 / std::numbers::sqrt3;
  int exponent = 0;
  std::frexp(moments(role, row_length).std / code_std, &exponent);
  return static_cast<std::uint8_t>(127 + exponent - 1);
}

std::size_t StoredTensor::bytes() const {
  std::size_t count = dtype_size(dtype);
  for (const std::int64_t dim : shape) count *= static_cast<std::size_t>(dim);
  return count;
}

std::vector<StoredTensor> stored_tensors(const ModelConfig& config, Storage storage) {
  std::vector<StoredTensor> out;
  for (const auto& spec : model_tensors(config)) {
    const std::vector<std::int64_t> plain =
        spec.vector ? std::vector{spec.cols} : std::vector{spec.rows, spec.cols};
    const auto add = [&](DType dtype, std::vector<std::int64_t> shape) {
      out.push_back({spec.name, dtype, std::move(shape), spec, false});
    };
    const auto add_scale = [&](std::int64_t rows, std::int64_t cols) {
      out.push_back({scale_name(spec.name), DType::kF8E8m0, {rows, cols}, spec, true});
    };
    const bool published = storage == Storage::kCheckpoint;
    if (spec.role == TensorRole::kHashTable) {
      add(DType::kI64, plain);
    } else if (published && spec.role == TensorRole::kProjection) {
      add(DType::kF8E4m3, plain);
      add_scale((spec.rows + 127) / 128, (spec.cols + 127) / 128);
    } else if (published && spec.role == TensorRole::kExpert) {
      add(DType::kI8, {spec.rows, spec.cols / 2});
      add_scale(spec.rows, spec.cols / WeightMatrix::kFp4Group);
    } else if (published && (spec.role == TensorRole::kEmbedding || spec.role == TensorRole::kNorm ||
                             spec.role == TensorRole::kLinear)) {
      add(DType::kBf16, plain);
    } else {
      add(DType::kF32, plain);
    }
  }
  return out;
}

ElementRule element_rule(std::uint64_t seed, const StoredTensor& tensor) {
  const TensorSpec& spec = tensor.of;
  return {tensor_key(seed, tensor.name), normal_scale(moments(spec.role, spec.cols)),
          tensor.is_scale ? scale_base(spec.role, spec.cols) : std::uint8_t{0}};
}

void generate_rows(const ModelConfig& config, std::uint64_t seed, const StoredTensor& tensor,
                   std::int64_t first_row, std::int64_t rows, std::span<std::byte> out) {
  const TensorSpec& spec = tensor.of;
  if (spec.role == TensorRole::kHashTable) {
    for (std::int64_t r = 0; r < rows; ++r)
      generate_hash_row(tensor_key(seed, tensor.name), first_row + r, static_cast<int>(spec.cols),
                        config.num_experts, out, static_cast<std::size_t>(r * spec.cols));
    return;
  }
  const ElementRule rule = element_rule(seed, tensor);
  const std::int64_t first = first_row * tensor.shape.back(), count = rows * tensor.shape.back();
  const auto fill = [&](const auto& element) {
    for (std::int64_t i = 0; i < count; ++i)
      store(out, static_cast<std::size_t>(i), element(rule, static_cast<std::uint64_t>(first + i)));
  };
  switch (tensor.dtype) {
    case DType::kF8E8m0:
      fill(e8m0_element);
      break;
    case DType::kF8E4m3:
      fill(fp8_element);
      break;
    case DType::kI8:
      fill(fp4_pair_element);
      break;
    case DType::kBf16:
      fill(bf16_element);
      break;
    default:
      fill(f32_element);
      break;
  }
}

}  // namespace dsv4
