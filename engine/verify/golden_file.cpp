#include "engine/verify/golden_file.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/config/json_guard.h"
#include "engine/config/parse_config.h"

namespace dsv4 {
namespace {

using capgate::Error;
using capgate::Result;

Result<GoldenCase> read_case(const nlohmann::json& json, const std::string& path) {
  GoldenCase out;
  try {
    out.name = json.at("name").get<std::string>();
    out.seed = json.at("seed").get<std::uint64_t>();
    out.storage = json.at("storage") == "checkpoint" ? Storage::kCheckpoint : Storage::kF32;
    out.rows = json.at("rows").get<int>();
    out.length = json.at("length").get<int>();
    out.observed = json.at("observe").get<std::vector<int>>();
    out.prompts = json.at("prompts").get<std::vector<int>>();
    if (json.at("long_greedy").get<int>() > 0) out.long_prompt = json.at("long_prompt").get<int>();
    auto config = parse_config(json.at("config").dump(), fmt::format("{}: case {}", path, out.name));
    if (!config) return Error{config.error()};
    out.config = std::move(*config);
  } catch (const nlohmann::json::exception& e) {
    return Error{fmt::format("{}: a case is not described as expected: {}", path, e.what())};
  }
  if (out.rows < 1 || out.length < 1) return Error{fmt::format("{}: case {} has no tokens", path, out.name)};
  return out;
}

}  // namespace

Result<GoldenFile> GoldenFile::open(const std::string& path) {
  auto file = SafetensorsFile::open(path);
  if (!file) return Error{file.error()};
  GoldenFile golden(std::move(*file));
  const auto& metadata = golden.file_.metadata();
  const auto format = metadata.find("format"), origin = metadata.find("origin"),
             cases = metadata.find("cases");
  if (format == metadata.end() || format->second != "dsv4-golden/1" || origin == metadata.end() ||
      cases == metadata.end())
    return Error{fmt::format("{}: not a golden file of format dsv4-golden/1", path)};
  golden.origin_ = origin->second;
  auto parsed = parse_json(cases->second, path + ": cases");
  if (!parsed) return Error{parsed.error()};
  for (const auto& json : **parsed) {
    auto one = read_case(json, path);
    if (!one) return Error{one.error()};
    golden.cases_.push_back(std::move(*one));
  }
  if (golden.cases_.empty()) return Error{fmt::format("{}: holds no case", path)};
  return golden;
}

template <class T>
Result<GoldenArray<T>> GoldenFile::array(const GoldenCase& c, const std::string& name, DType dtype) const {
  const auto it = file_.tensors().find(c.name + "/" + name);
  if (it == file_.tensors().end() || it->second.dtype != dtype)
    return Error{fmt::format("golden tensor {}/{} of type {} is missing", c.name, name, dtype_name(dtype))};
  GoldenArray<T> out{it->second.shape, std::vector<T>(it->second.bytes / sizeof(T))};
  if (it->second.bytes > 0) std::memcpy(out.values.data(), it->second.data, it->second.bytes);
  return out;
}

Result<GoldenArray<float>> GoldenFile::floats(const GoldenCase& c, const std::string& name) const {
  return array<float>(c, name, DType::kF32);
}

Result<GoldenArray<std::int32_t>> GoldenFile::integers(const GoldenCase& c, const std::string& name) const {
  return array<std::int32_t>(c, name, DType::kI32);
}

bool GoldenFile::has(const GoldenCase& c, const std::string& name) const {
  return file_.tensors().contains(c.name + "/" + name);
}

std::vector<std::string> GoldenFile::components(const GoldenCase& c, int position) const {
  const std::string before = c.name + "/act/", after = fmt::format("/{}", position);
  std::vector<std::string> names;
  for (const auto& [name, view] : file_.tensors())
    if (name.starts_with(before) && name.ends_with(after))
      names.push_back(name.substr(before.size(), name.size() - before.size() - after.size()));
  return names;
}

}  // namespace dsv4
