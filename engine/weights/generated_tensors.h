// A generated model in memory: what random-checkpoint would write, without a file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/checkpoint/tensor_view.h"
#include "engine/weights/generator.h"

namespace dsv4 {

class GeneratedTensors : public TensorSource {
 public:
  GeneratedTensors(const ModelConfig& config, std::uint64_t seed, Storage storage);
  std::optional<TensorView> find(const std::string& upstream_name) const override;
  std::string description() const override { return "the generated model"; }

 private:
  std::map<std::string, std::pair<TensorView, std::vector<std::byte>>> tensors_;
};

}  // namespace dsv4
