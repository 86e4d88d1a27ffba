#include "engine/weights/generated_tensors.h"

namespace dsv4 {

GeneratedTensors::GeneratedTensors(const ModelConfig& config, std::uint64_t seed, Storage storage) {
  for (const auto& tensor : stored_tensors(config, storage)) {
    auto& [view, bytes] = tensors_[tensor.name];
    bytes.resize(tensor.bytes());
    const std::int64_t rows = tensor.shape.size() == 1 ? 1 : tensor.shape[0];
    generate_rows(config, seed, tensor, 0, rows, bytes);
    view = {tensor.dtype, tensor.shape, bytes.data(), bytes.size()};
  }
}

std::optional<TensorView> GeneratedTensors::find(const std::string& upstream_name) const {
  const auto it = tensors_.find(upstream_name);
  if (it == tensors_.end()) return std::nullopt;
  return it->second.first;
}

}  // namespace dsv4
