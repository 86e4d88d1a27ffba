// A model directory's tensors: model.safetensors, or the shards that model.safetensors.index.json lists.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/checkpoint/tensor_view.h"

namespace dsv4 {

class Checkpoint : public TensorSource {
 public:
  // Maps every file and checks that the index and the files agree.
  static capgate::Result<Checkpoint> open(const std::string& dir);

  // Under any name that tensor_names.h accepts; a routed expert also out of transformers' packed tensors.
  std::optional<TensorView> find(const std::string& upstream_name) const override;
  // Two names that both stand for it and hold different tensors.
  std::optional<std::pair<std::string, std::string>> contradiction(
      const std::string& upstream_name) const override;
  std::string description() const override { return dir_; }

  std::size_t tensor_count() const { return tensors_.size(); }
  std::size_t total_bytes() const;
  std::map<std::string, std::size_t> bytes_by_dtype() const;

 private:
  // Everything that stands for the tensor, the name that counts first.
  std::vector<std::pair<std::string, TensorView>> candidates(const std::string& upstream_name) const;

  std::string dir_;
  std::vector<SafetensorsFile> files_;
  std::map<std::string, TensorView> tensors_;
};

}  // namespace dsv4
