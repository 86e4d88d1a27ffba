#include "engine/checkpoint/checkpoint.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/checkpoint/tensor_names.h"
#include "engine/config/json_guard.h"

namespace dsv4 {
namespace {

using capgate::Error;
using capgate::Result;

// Tensor name → shard file name, as the index says.
Result<std::map<std::string, std::string>> read_index(const std::string& path) {
  auto file = MappedFile::open(path);
  if (!file) return Error{file.error()};
  const auto bytes = file->bytes();
  auto parsed = parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
  if (!parsed) return Error{parsed.error()};
  const auto& json = **parsed;
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object())
    return Error{fmt::format("{}: there is no \"weight_map\" object", path)};
  std::map<std::string, std::string> map;
  for (const auto& [name, shard] : json["weight_map"].items()) {
    if (!shard.is_string()) return Error{fmt::format("{}: the shard of \"{}\" is not a string", path, name)};
    const auto& file_name = shard.get_ref<const std::string&>();
    if (file_name.empty() || file_name.find('/') != std::string::npos || file_name == ".." ||
        file_name.find('\0') != std::string::npos)
      return Error{fmt::format("{}: the shard of \"{}\" is not a plain file name", path, name)};
    map.emplace(name, file_name);
  }
  return map;
}

}  // namespace

Result<Checkpoint> Checkpoint::open(const std::string& dir) {
  Checkpoint checkpoint;
  checkpoint.dir_ = dir;
  const std::string single = dir + "/model.safetensors", index = dir + "/model.safetensors.index.json";
  // A link to nothing is there, too: a download that was not finished is no other checkpoint.
  const auto is_there = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
  };
  if (!is_there(index)) {
    if (!is_there(single))
      return Error{
          fmt::format("{}: neither model.safetensors nor model.safetensors.index.json is there", dir)};
    auto file = SafetensorsFile::open(single);
    if (!file) return Error{file.error()};
    checkpoint.tensors_ = file->tensors();
    checkpoint.files_.push_back(std::move(*file));
    return checkpoint;
  }
  auto map = read_index(index);
  if (!map) return Error{map.error()};
  std::map<std::string, std::size_t> opened;
  for (const auto& [name, shard] : *map) {
    if (!opened.contains(shard)) {
      auto file = SafetensorsFile::open(dir + "/" + shard);
      if (!file) return Error{file.error()};
      opened.emplace(shard, checkpoint.files_.size());
      checkpoint.files_.push_back(std::move(*file));
    }
    const auto& tensors = checkpoint.files_[opened[shard]].tensors();
    const auto it = tensors.find(name);
    if (it == tensors.end())
      return Error{fmt::format("{}: the index says that \"{}\" is in {}, but it is not", dir, name, shard)};
    checkpoint.tensors_.emplace(name, it->second);
  }
  return checkpoint;
}

std::vector<std::pair<std::string, TensorView>> Checkpoint::candidates(
    const std::string& upstream_name) const {
  std::vector<std::pair<std::string, TensorView>> out;
  for (const auto& name : accepted_names(upstream_name))
    if (const auto it = tensors_.find(name); it != tensors_.end()) out.emplace_back(name, it->second);
  const auto packed = packed_expert(upstream_name);
  if (!packed) return out;
  for (const auto& name : packed->names) {
    const auto it = tensors_.find(name);
    if (it == tensors_.end()) continue;
    const TensorView& all = it->second;
    if (all.shape.size() != 3 || packed->expert >= all.shape[0] || all.shape[1] % packed->parts != 0)
      continue;
    TensorView view = all;
    view.shape = {all.shape[1] / packed->parts, all.shape[2]};
    view.bytes = all.bytes / static_cast<std::size_t>(all.shape[0] * packed->parts);
    view.data =
        all.data + view.bytes * static_cast<std::size_t>(packed->expert * packed->parts + packed->part);
    out.emplace_back(name, std::move(view));
  }
  return out;
}

std::optional<TensorView> Checkpoint::find(const std::string& upstream_name) const {
  const auto all = candidates(upstream_name);
  if (all.empty()) return std::nullopt;
  return all.front().second;
}

std::optional<std::pair<std::string, std::string>> Checkpoint::contradiction(
    const std::string& upstream_name) const {
  const auto all = candidates(upstream_name);
  for (std::size_t i = 1; i < all.size(); ++i) {
    const TensorView &a = all[0].second, &b = all[i].second;
    if (a.dtype != b.dtype || a.shape != b.shape ||
        (a.data != b.data && a.bytes > 0 && std::memcmp(a.data, b.data, a.bytes) != 0))
      return std::pair(all[0].first, all[i].first);
  }
  return std::nullopt;
}

std::size_t Checkpoint::total_bytes() const {
  std::size_t total = 0;
  for (const auto& [name, view] : tensors_) total += view.bytes;
  return total;
}

std::map<std::string, std::size_t> Checkpoint::bytes_by_dtype() const {
  std::map<std::string, std::size_t> bytes;
  for (const auto& [name, view] : tensors_) bytes[dtype_name(view.dtype)] += view.bytes;
  return bytes;
}

}  // namespace dsv4
