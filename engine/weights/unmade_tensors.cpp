#include "engine/weights/unmade_tensors.h"

namespace dsv4 {
namespace {

// Whole matrices that kernels read as they are stored; the rest is read on the host.
bool is_large(const StoredTensor& tensor) {
  switch (tensor.of.role) {
    case TensorRole::kEmbedding:
    case TensorRole::kProjection:
    case TensorRole::kLinear:
    case TensorRole::kExpert:
    case TensorRole::kHcMixer:
      return true;
    default:
      return false;
  }
}

}  // namespace

UnmadeTensors::UnmadeTensors(const ModelConfig& config, std::uint64_t seed, Storage storage) : seed_(seed) {
  for (auto& tensor : stored_tensors(config, storage)) {
    Entry& entry = entries_.emplace_back();
    entry.tensor = std::move(tensor);
    if (is_large(entry.tensor)) {
      by_data_.emplace(&entry.name, &entry);
    } else {
      entry.bytes.resize(entry.tensor.bytes());
      generate_rows(config, seed, entry.tensor, 0, entry.tensor.shape.size() == 1 ? 1 : entry.tensor.shape[0],
                    entry.bytes);
    }
    by_name_.emplace(entry.tensor.name, &entry);
  }
}

std::optional<TensorView> UnmadeTensors::find(const std::string& upstream_name) const {
  const auto it = by_name_.find(upstream_name);
  if (it == by_name_.end()) return std::nullopt;
  const Entry& entry = *it->second;
  return TensorView{entry.tensor.dtype, entry.tensor.shape,
                    entry.bytes.empty() ? &entry.name : entry.bytes.data(), entry.tensor.bytes()};
}

const StoredTensor* UnmadeTensors::unmade(const std::byte* data) const {
  const auto it = by_data_.find(data);
  return it == by_data_.end() ? nullptr : &it->second->tensor;
}

}  // namespace dsv4
