// The parameters of a kernel node, each with its bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "detector/trace/process_trace.h"

namespace capgate::trace {

struct NodeParam {
  uint32_t offset = 0;
  std::span<const std::byte> bytes;
};

// Where the record stands in the list, or the list's size when it is another one's.
inline size_t index_in(const std::vector<OnThread<GraphNodeRecord>>& list, const GraphNodeRecord& node) {
  // The record is the first member of what the list holds.
  const auto* element = reinterpret_cast<const OnThread<GraphNodeRecord>*>(&node);
  const std::less<> before;
  const bool inside = !before(element, list.data()) && before(element, list.data() + list.size());
  return inside ? static_cast<size_t>(element - list.data()) : list.size();
}

// Of a record of ProcessTrace::graph_nodes, exec_nodes or eager_launches; empty when their layout is not
// known, or lies outside the bytes that were recorded.
inline std::vector<NodeParam> node_params(const ProcessTrace& trace, const GraphNodeRecord& r) {
  std::vector<NodeParam> out;
  if ((r.param_layout & kParamsPlaced) == 0) return out;
  const std::vector<uint64_t>* begins = nullptr;
  size_t index = 0;
  for (const auto& [list, its_begins] : {std::pair(&trace.graph_nodes, &trace.node_params_at),
                                         std::pair(&trace.exec_nodes, &trace.exec_params_at),
                                         std::pair(&trace.eager_launches, &trace.launch_params_at)}) {
    index = index_in(*list, r);
    if (index >= list->size()) continue;
    begins = its_begins;
    break;
  }
  if (!begins || index >= begins->size()) return out;
  struct Layout {
    uint32_t offset, size;
  };
  const std::byte* layout = trace.node_params.data() + (*begins)[index];
  const std::span params(layout + size_t{r.param_count} * sizeof(Layout), r.param_bytes);
  out.reserve(r.param_count);
  for (uint32_t i = 0; i < r.param_count; ++i) {
    Layout at;
    std::memcpy(&at, layout + size_t{i} * sizeof(at), sizeof(at));
    if (at.offset > params.size() || at.size > params.size() - at.offset) return {};
    out.push_back({at.offset, params.subspan(at.offset, at.size)});
  }
  return out;
}

}  // namespace capgate::trace
