// A generated model whose large tensors nobody has made yet: enough to bind a model's weights by, for whoever
// makes them elsewhere (cuda/device_weights.h, on the device). Small vectors and hash tables are made.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "engine/checkpoint/tensor_view.h"
#include "engine/weights/generator.h"

namespace dsv4 {

class UnmadeTensors : public TensorSource {
 public:
  UnmadeTensors(const ModelConfig& config, std::uint64_t seed, Storage storage);
  // `data` of a large tensor is a name for it, not memory that holds it.
  std::optional<TensorView> find(const std::string& upstream_name) const override;
  std::string description() const override { return "the generated model"; }

  std::uint64_t seed() const { return seed_; }
  // The tensor that a bound matrix's data names; null when `data` is memory.
  const StoredTensor* unmade(const std::byte* data) const;

 private:
  struct Entry {
    StoredTensor tensor;
    std::vector<std::byte> bytes;  // of a tensor that is made
    std::byte name{};              // its address names one that is not
  };
  std::uint64_t seed_;
  std::deque<Entry> entries_;
  std::map<std::string, const Entry*> by_name_;
  std::map<const std::byte*, const Entry*> by_data_;
};

}  // namespace dsv4
