#include "engine/verify/component_dump.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/checkpoint/safetensors.h"

namespace dsv4 {

using capgate::Error;
using capgate::Result;

namespace {

constexpr char kTokens[] = "tokens";
constexpr char kFormat[] = "dsv4-dump/1";

// Anything else than a dump is left alone: a model's weights above all, which may be mapped.
bool would_be_lost(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  const auto file = SafetensorsFile::open(path);
  if (!file) return true;
  const auto format = file->metadata().find("format");
  return format == file->metadata().end() || format->second != kFormat;
}

template <class T>
std::vector<T> copied(const TensorView& view) {
  std::vector<T> values(view.bytes / sizeof(T));
  if (view.bytes > 0) std::memcpy(values.data(), view.data, view.bytes);
  return values;
}

}  // namespace

std::vector<int> ComponentDump::positions() const {
  std::set<int> all;
  for (const Component& component : components) all.insert(component.position);
  return {all.begin(), all.end()};
}

Result<ComponentDump> read_dump(const std::string& path) {
  const auto file = SafetensorsFile::open(path);
  if (!file) return Error{file.error()};
  ComponentDump dump;
  const auto tokens = file->tensors().find(kTokens);
  if (tokens == file->tensors().end() || tokens->second.dtype != DType::kI32 ||
      tokens->second.shape.size() != 1)
    return Error{fmt::format("{}: has no tensor \"{}\" of type I32 and one dimension", path, kTokens)};
  dump.tokens = copied<std::int32_t>(tokens->second);
  for (const auto& [name, view] : file->tensors()) {
    if (name == kTokens) continue;
    const auto slash = name.rfind('/');
    Component component;
    const char* end = name.data() + name.size();
    const char* number = slash == std::string::npos ? end : name.data() + slash + 1;
    const auto [rest, failure] = std::from_chars(number, end, component.position);
    if (number == end || failure != std::errc() || rest != end || component.position < 0)
      return Error{fmt::format("{}: tensor \"{}\" is not named COMPONENT/POSITION", path, name)};
    if (component.position >= static_cast<int>(dump.tokens.size()))
      return Error{fmt::format("{}: tensor \"{}\" is at a position that none of the {} tokens has", path,
                               name, dump.tokens.size())};
    if (view.dtype != DType::kF32)
      return Error{fmt::format("{}: tensor \"{}\" is {} and not F32", path, name, dtype_name(view.dtype))};
    component.name = name.substr(0, slash);
    component.values = copied<float>(view);
    dump.components.push_back(std::move(component));
  }
  if (dump.components.empty()) return Error{fmt::format("{}: holds no component", path)};
  return dump;
}

Result<void> write_dump(const ComponentDump& dump, const std::string& path) {
  if (would_be_lost(path)) return Error{fmt::format("{}: is there already, and is no dump", path)};
  nlohmann::ordered_json header;
  header["__metadata__"] = {{"format", kFormat}};
  std::size_t at = 0;
  const auto add = [&](const std::string& name, const char* type, std::size_t count) {
    header[name] = {{"dtype", type}, {"shape", {count}}, {"data_offsets", {at, at + 4 * count}}};
    at += 4 * count;
  };
  add(kTokens, "I32", dump.tokens.size());
  for (const Component& component : dump.components)
    add(fmt::format("{}/{}", component.name, component.position), "F32", component.values.size());
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  std::ofstream file(path, std::ios::binary);
  const auto put = [&](const void* data, std::size_t size) {
    file.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  };
  const std::uint64_t size = text.size();
  put(&size, sizeof size);
  put(text.data(), text.size());
  put(dump.tokens.data(), 4 * dump.tokens.size());
  for (const Component& component : dump.components)
    put(component.values.data(), 4 * component.values.size());
  file.close();
  if (!file) return Error{fmt::format("{}: cannot be written", path)};
  return {};
}

}  // namespace dsv4
