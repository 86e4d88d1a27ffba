// The parameters of a captured kernel node, each with its bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "detector/trace/process_trace.h"

namespace capgate::trace {

struct NodeParam {
  uint32_t offset = 0;
  std::span<const std::byte> bytes;
};

// Of the node at `index` of ProcessTrace::graph_nodes; empty when their layout is not known, or lies outside
// the bytes that were recorded.
inline std::vector<NodeParam> node_params(const ProcessTrace& trace, size_t index) {
  const GraphNodeRecord& r = trace.graph_nodes[index].r;
  std::vector<NodeParam> out;
  if ((r.param_layout & kParamsPlaced) == 0 || index >= trace.node_params_at.size()) return out;
  struct Layout {
    uint32_t offset, size;
  };
  const std::byte* layout = trace.node_params.data() + trace.node_params_at[index];
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
