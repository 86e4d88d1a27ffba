#include "static_checks/sources/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/cuda_names.h"
#include "base/json/strict_json.h"

namespace capgate::lint {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::pair<std::string_view, Is>, 46> kKinds{{
    {"copy", Is::copy},
    {"copy-node", Is::copy_node},
    {"set", Is::set},
    {"allocate", Is::allocate},
    {"free", Is::release},
    {"register", Is::enlist},
    {"unregister", Is::unlist},
    {"same-memory", Is::same_memory},
    {"host-reallocate", Is::host_reallocate},
    {"host-free", Is::host_free},
    {"wait", Is::wait},
    {"poll", Is::poll},
    {"begin-capture", Is::begin_capture},
    {"end-capture", Is::end_capture},
    {"capture-status", Is::capture_status},
    {"exchange-mode", Is::exchange_mode},
    {"launch", Is::launch},
    {"host-function", Is::host_function},
    {"create-handle", Is::create_handle},
    {"handle-stream", Is::handle_stream},
    {"library-work", Is::library_work},
    {"pointer-mode", Is::pointer_mode},
    {"source", Is::source},
    {"device-algorithm", Is::device_algorithm},
    {"tensor-read", Is::tensor_read},
    {"tensor-to-host", Is::tensor_to_host},
    {"tensor-to", Is::tensor_to},
    {"tensor-data-shape", Is::tensor_data_shape},
    {"tensor-index", Is::tensor_index},
    {"tensor-shape", Is::tensor_shape},
    {"tensor-data", Is::tensor_data},
    {"tensor-new", Is::tensor_new},
    {"tensor-copy", Is::tensor_copy},
    {"tensor-compare", Is::tensor_compare},
    {"tensor-mask", Is::tensor_mask},
    {"tensor-write", Is::tensor_write},
    {"tensor-part", Is::tensor_part},
    {"begin-region", Is::begin_region},
    {"end-region", Is::end_region},
    {"begin-range", Is::begin_range},
    {"end-range", Is::end_range},
    {"begin-eager-break", Is::begin_eager_break},
    {"end-eager-break", Is::end_eager_break},
    {"begin-allow", Is::begin_allow},
    {"end-allow", Is::end_allow},
    {"host-known", Is::host_known},
}};

constexpr std::array<std::pair<std::string_view, Direction>, 6> kDirections{{
    {"to-host", Direction::to_host},
    {"to-device", Direction::to_device},
    {"on-device", Direction::on_device},
    {"on-host", Direction::on_host},
    {"default", Direction::by_address},
    {"by-field", Direction::by_field},
}};

constexpr std::array<std::pair<std::string_view, Memory>, 4> kMemories{{
    {"device", Memory::device},
    {"managed", Memory::managed},
    {"pinned", Memory::pinned},
    {"host", Memory::host_heap},
}};

template <class Table, class Out>
bool choose(const Table& table, const Json& word, Out& out) {
  const auto it =
      std::find_if(table.begin(), table.end(), [&](const auto& entry) { return word == entry.first; });
  if (it == table.end()) return false;
  out = it->second;
  return true;
}

// One field of an entry; false when its name or its type is not known.
bool read_field(Api& api, const std::string& key, const Json& v) {
  const std::pair<const char*, int*> positions[] = {{"graph", &api.graph},
                                                    {"dst", &api.dst},
                                                    {"src", &api.src},
                                                    {"bytes", &api.bytes},
                                                    {"rows", &api.rows},
                                                    {"kind", &api.kind},
                                                    {"stream", &api.stream},
                                                    {"ptr", &api.ptr},
                                                    {"handle", &api.handle},
                                                    {"parameters", &api.parameters},
                                                    {"function", &api.function},
                                                    {"arrays", &api.arrays},
                                                    {"arguments", &api.arguments},
                                                    {"rule_argument", &api.rule_argument},
                                                    {"reason_argument", &api.reason_argument}};
  for (const auto& [name, at] : positions)
    if (key == name) return v.is_number_integer() ? (*at = v.get<int>(), true) : false;
  const std::pair<const char*, bool*> flags[] = {
      {"async", &api.async},        {"batch", &api.batch},
      {"returns", &api.returns},    {"returns_dst", &api.returns_dst},
      {"host", &api.host},          {"scalar", &api.scalar},
      {"waits", &api.waits},        {"copies", &api.copies},
      {"iterator", &api.iterator},  {"stream_last", &api.stream_last},
      {"refused", &api.refused},    {"pool", &api.pool},
      {"allocates", &api.allocates}};
  for (const auto& [name, at] : flags)
    if (key == name) return v.is_boolean() ? (*at = v.get<bool>(), true) : false;
  const std::pair<const char*, std::vector<int>*> lists[] = {{"out", &api.out}, {"grid", &api.grid}};
  for (const auto& [name, at] : lists)
    if (key == name) {
      if (!v.is_array()) return false;
      for (const Json& item : v) {
        if (!item.is_number_integer()) return false;
        at->push_back(item.get<int>());
      }
      return true;
    }
  const std::pair<const char*, std::vector<std::string>*> names[] = {{"dst_fields", &api.dst_fields},
                                                                     {"src_fields", &api.src_fields}};
  for (const auto& [name, at] : names)
    if (key == name) {
      if (!v.is_array()) return false;
      for (const Json& item : v) {
        if (!item.is_string()) return false;
        at->push_back(item.get<std::string>());
      }
      return true;
    }
  if (key == "is") return v == "no-return" ? (api.is = Is::no_return, true) : choose(kKinds, v, api.is);
  if (key == "direction") return choose(kDirections, v, api.direction);
  if (key == "memory") return choose(kMemories, v, api.memory);
  if (key == "kind_field") return v.is_string() ? (api.kind_field = v.get<std::string>(), true) : false;
  return key == "about";
}

}  // namespace

bool is_work_or_wait(const Api& api) {
  return api.is != Is::host_known && api.is != Is::no_return && api.is != Is::host_free &&
         api.is != Is::begin_range && api.is != Is::end_range && api.direction != Direction::on_host &&
         (api.is != Is::allocate || api.memory != Memory::host_heap);
}

std::string_view word_of(Is is) {
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& k) { return k.second == is; });
  return kind == kKinds.end() ? "no-return" : kind->first;
}

Result<void> Tables::add(const std::string& json, const std::string& where) {
  const Result<Json> read = StrictJson::read<Json>(json, /*comments=*/true);
  if (!read) return Error{fmt::format("{}: {}", where, read.error())};
  const Json& table = *read;
  if (!table.is_object() || !table.contains("functions") || !table["functions"].is_array())
    return Error{fmt::format("{}: a table of sources needs a list \"functions\"", where)};
  size_t number = 0;
  for (const Json& entry : table["functions"]) {
    ++number;
    if (!entry.is_object()) return Error{fmt::format("{}: entry {} is not an object", where, number)};
    auto api = std::make_unique<Api>();
    std::vector<std::string> names, prefixes, except;
    for (const auto& [key, value] : entry.items()) {
      std::vector<std::string>* list = nullptr;
      if (key == "names") list = &names;
      if (key == "prefixes") list = &prefixes;
      if (key == "except") list = &except;
      if (list) {
        if (!value.is_array())
          return Error{fmt::format("{}: entry {}: \"{}\" is not a list", where, number, key)};
        for (const Json& name : value)
          if (name.is_string()) list->push_back(name.get<std::string>());
      } else if (!read_field(*api, key, value)) {
        return Error{
            fmt::format("{}: entry {}: \"{}\": {} is not understood", where, number, key, value.dump())};
      }
    }
    if (!entry.contains("is") || (names.empty() && prefixes.empty()))
      return Error{fmt::format(R"({}: entry {} needs "names" and "is")", where, number)};
    const auto keep = [&](const std::string& name) {
      all_.push_back(std::make_unique<Api>(*api));
      all_.back()->name = name;
      return all_.back().get();
    };
    for (const std::string& name : names) by_name_[name] = keep(name);
    for (const std::string& prefix : prefixes) prefixes_.push_back({prefix, except, keep(prefix)});
  }
  return {};
}

const Api* Tables::find(std::string_view qualified) const {
  if (const auto it = by_name_.find(std::string(qualified)); it != by_name_.end()) return it->second;
  if (!qualified.starts_with("cu")) return find_prefix(qualified);
  // Driver and cuBLAS entry points carry versions: cuMemcpyDtoH_v2, cudaMemcpyAsync_ptsz, cublasSgemm_v2_64.
  std::string_view name = qualified;
  constexpr std::string_view kWide = "_64";  // of cuBLAS: sizes of 64 bits
  do {
    if (name.ends_with(kWide)) name.remove_suffix(kWide.size());
    name = without_variant(name);
  } while (name.ends_with(kWide));
  if (const auto it = by_name_.find(std::string(name)); it != by_name_.end()) return it->second;
  return find_prefix(name);
}

const Api* Tables::find_prefix(std::string_view name) const {
  for (const Prefix& p : prefixes_)
    if (name.starts_with(p.prefix) &&
        std::none_of(p.except.begin(), p.except.end(), [&](const auto& e) { return name.starts_with(e); }))
      return p.api;
  return nullptr;
}

}  // namespace capgate::lint
