#include "engine/checkpoint/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "engine/config/json_guard.h"

namespace dsv4 {
namespace {

using capgate::Error;
using capgate::Result;
using Json = nlohmann::json;

constexpr std::uint64_t kMaxHeader = 100'000'000;  // the format's own limit
constexpr std::size_t kMaxDims = 8;

struct Extent {
  std::uint64_t begin, end;
};

// Elements of a shape; nothing if it has a negative dimension or does not fit.
std::optional<std::uint64_t> element_count(const std::vector<std::int64_t>& shape) {
  std::uint64_t count = 1;
  for (const std::int64_t dim : shape) {
    if (dim < 0 || __builtin_mul_overflow(count, static_cast<std::uint64_t>(dim), &count))
      return std::nullopt;
  }
  return count;
}

Result<Extent> read_tensor(const Json& entry, std::uint64_t data_size, TensorView& view) {
  if (!entry.is_object()) return Error{"is not described by an object"};
  const auto dtype = entry.find("dtype"), shape = entry.find("shape"), offsets = entry.find("data_offsets");
  if (dtype == entry.end() || shape == entry.end() || offsets == entry.end() || entry.size() != 3)
    return Error{"must have exactly dtype, shape and data_offsets"};
  if (!dtype->is_string()) return Error{"has a dtype that is not a string"};
  const auto known = dtype_from_name(dtype->get_ref<const std::string&>());
  if (!known) return Error{fmt::format("has the unsupported type {}", dtype->dump(-1, ' ', true))};
  view.dtype = *known;
  if (!shape->is_array() || shape->size() > kMaxDims)
    return Error{"has a shape that is not a list of at most 8 numbers"};
  for (const auto& dim : *shape) {
    if (!dim.is_number_unsigned() || dim.get<std::uint64_t>() > INT64_MAX)
      return Error{fmt::format("has {} in its shape", dim.dump(-1, ' ', true).substr(0, 40))};
    view.shape.push_back(dim.get<std::int64_t>());
  }
  const auto count = element_count(view.shape);
  std::uint64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, dtype_size(view.dtype), &bytes))
    return Error{fmt::format("has a shape {} that does not fit in memory", shape_text(view.shape))};
  if (!offsets->is_array() || offsets->size() != 2 || !(*offsets)[0].is_number_unsigned() ||
      !(*offsets)[1].is_number_unsigned())
    return Error{"has data_offsets that are not two positions"};
  const Extent extent{(*offsets)[0].get<std::uint64_t>(), (*offsets)[1].get<std::uint64_t>()};
  if (extent.begin > extent.end || extent.end > data_size)
    return Error{fmt::format("lies at bytes {} to {} of {}", extent.begin, extent.end, data_size)};
  if (extent.end - extent.begin != bytes)
    return Error{fmt::format("has {} bytes where {} {} needs {}", extent.end - extent.begin,
                             dtype_name(view.dtype), shape_text(view.shape), bytes)};
  return extent;
}

}  // namespace

Result<SafetensorsContent> parse_safetensors(std::span<const std::byte> file, const std::string& origin) {
  if (file.size() < 8)
    return Error{fmt::format("{}: {} bytes are too few for a safetensors file", origin, file.size())};
  std::uint64_t header_size = 0;
  for (int i = 7; i >= 0; --i) header_size = header_size << 8 | std::to_integer<std::uint64_t>(file[i]);
  if (header_size > kMaxHeader)
    return Error{
        fmt::format("{}: a header of {} bytes is over the limit of {}", origin, header_size, kMaxHeader)};
  if (header_size > file.size() - 8)
    return Error{
        fmt::format("{}: truncated in the header ({} of {} bytes)", origin, file.size() - 8, header_size)};
  const std::string_view header(reinterpret_cast<const char*>(file.data()) + 8, header_size);
  auto parsed = parse_json(header, origin + ": header");
  if (!parsed) return Error{parsed.error()};
  if (!(*parsed)->is_object()) return Error{fmt::format("{}: the header is not a JSON object", origin)};

  SafetensorsContent content;
  const std::byte* data = file.data() + 8 + header_size;
  const std::uint64_t data_size = file.size() - 8 - header_size;
  std::vector<std::pair<Extent, const std::string*>> extents;
  for (const auto& [name, entry] : (*parsed)->items()) {
    if (name == "__metadata__") {
      if (!entry.is_object()) return Error{fmt::format("{}: __metadata__ is not an object", origin)};
      for (const auto& [key, value] : entry.items()) {
        if (!value.is_string())
          return Error{fmt::format("{}: __metadata__ holds something else than strings", origin)};
        content.metadata.emplace(key, value.get<std::string>());
      }
      continue;
    }
    TensorView view;
    const auto extent = read_tensor(entry, data_size, view);
    if (!extent) return Error{fmt::format("{}: tensor \"{}\" {}", origin, name, extent.error())};
    view.data = data + extent->begin;
    view.bytes = extent->end - extent->begin;
    const auto it = content.tensors.emplace(name, std::move(view)).first;
    extents.emplace_back(*extent, &it->first);
  }
  std::sort(extents.begin(), extents.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.begin, a.first.end) < std::pair(b.first.begin, b.first.end);
  });
  std::uint64_t covered = 0;
  for (const auto& [extent, name] : extents) {
    if (extent.begin != covered)
      return Error{fmt::format("{}: tensor \"{}\" starts at byte {} where {} was expected ({})", origin,
                               *name, extent.begin, covered,
                               extent.begin < covered ? "tensors overlap" : "a gap")};
    covered = extent.end;
  }
  if (covered != data_size)
    return Error{fmt::format("{}: {} bytes follow the last tensor", origin, data_size - covered)};
  return content;
}

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  auto file = MappedFile::open(path);
  if (!file) return Error{file.error()};
  auto content = parse_safetensors(file->bytes(), path);
  if (!content) return Error{content.error()};
  return SafetensorsFile(std::move(*file), std::move(*content));
}

}  // namespace dsv4
