// Graphs: their nodes, edges and contents.
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {

void ProcessBuilder::node(uint64_t graph, uint64_t node, uint32_t kind, uint64_t call_seq,
                          const std::string& name) {
  trace::NodeRecord made{};
  made.graph = graph;
  made.node = node;
  made.kind = kind;
  made.call_seq = call_seq;
  add(made, RecordType::node);
  trace::GraphNodeRecord record{};
  record.graph = graph;
  record.node = node;
  record.kind = kind;
  record.name = string(name);
  add(record, RecordType::graph_node);
}

void ProcessBuilder::copy_node(uint64_t graph, uint64_t node, uint64_t call_seq, uint64_t dst,
                               Memory dst_memory, uint64_t src, Memory src_memory, HostPlace place,
                               uint64_t bytes) {
  constexpr uint32_t kCopy = 1;
  if (call_seq != 0) {
    trace::NodeRecord made{};
    made.graph = graph;
    made.node = node;
    made.kind = kCopy;
    made.call_seq = call_seq;
    add(made, RecordType::node);
  }
  trace::GraphNodeRecord record{};
  record.graph = graph;
  record.node = node;
  record.kind = kCopy;
  record.dst = dst;
  record.src = src;
  record.bytes = bytes;
  record.dst_memory = static_cast<uint8_t>(dst_memory);
  record.src_memory = static_cast<uint8_t>(src_memory);
  if (dst_memory != Memory::device) record.dst_place = static_cast<uint8_t>(place);
  if (src_memory != Memory::device) record.src_place = static_cast<uint8_t>(place);
  add(record, RecordType::graph_node);
}

namespace {

// A kernel node's parameters, with their places, as they stand behind its record.
std::string param_bytes(trace::GraphNodeRecord& record, const std::vector<uint64_t>& words, bool one) {
  const auto count = static_cast<uint32_t>(words.size());
  record.param_count = one ? 1 : count;
  record.param_bytes = count * 8;
  if (!words.empty()) record.param_layout = trace::kParamsPlaced;
  std::string tail;
  const auto put = [&](const auto& value) {
    tail.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  for (uint32_t i = 0; i < record.param_count; ++i) {
    put(uint32_t{i * 8});
    put(uint32_t{one ? count * 8 : 8});
  }
  for (const uint64_t word : words) put(word);
  return tail;
}

}  // namespace

void ProcessBuilder::kernel(uint64_t graph, uint64_t node, uint64_t call_seq, const std::string& name,
                            const std::vector<uint64_t>& words, bool one, uint64_t module) {
  const uint32_t label = string(name);
  if (call_seq != 0) {
    trace::NodeRecord made{};
    made.graph = graph;
    made.node = node;
    made.call_seq = call_seq;
    add(made, RecordType::node);
  }
  trace::GraphNodeRecord record{};
  record.graph = graph;
  record.node = node;
  record.name = label;
  record.src = module;
  const std::string tail = param_bytes(record, words, one);
  add(record, RecordType::graph_node, tail);
}

void ProcessBuilder::sized(trace::GraphNodeRecord record, RecordType type, const std::vector<Param>& params) {
  std::string layout, values;
  for (const Param& param : params) {
    const uint32_t place[] = {static_cast<uint32_t>(values.size()), param.size};
    layout.append(reinterpret_cast<const char*>(place), sizeof(place));
    values.append(reinterpret_cast<const char*>(&param.value), param.size);
  }
  record.param_count = static_cast<uint32_t>(params.size());
  record.param_bytes = static_cast<uint32_t>(values.size());
  if (!params.empty()) record.param_layout = trace::kParamsPlaced;
  record.grid[1] = record.grid[2] = record.block[1] = record.block[2] = 1;
  record.block[0] = 128;
  add(record, type, layout + values);
}

void ProcessBuilder::sized_node(uint64_t graph, uint64_t node, uint64_t call_seq, const std::string& name,
                                const std::vector<Param>& params, uint32_t grid) {
  if (call_seq != 0) made_node(graph, node, call_seq);
  trace::GraphNodeRecord record{};
  record.graph = graph;
  record.node = node;
  record.name = string(name);
  record.grid[0] = grid;
  sized(record, RecordType::graph_node, params);
}

CallRecord& ProcessBuilder::eager(uint64_t stream, const std::string& name, const std::vector<Param>& params,
                                  uint32_t grid) {
  CallRecord& call = launch(stream, name);
  trace::GraphNodeRecord record{};
  record.graph = call.h.seq;
  record.name = string(name);
  record.grid[0] = grid;
  sized(record, RecordType::eager_launch, params);
  return call;
}

CallRecord& ProcessBuilder::add_node(uint64_t graph, uint64_t node, const std::string& name) {
  CallRecord& record = call(Family::graph_node_add, name);
  record.object = graph;
  record.out = node;
  made_node(graph, node, record.h.seq);
  return record;
}

void ProcessBuilder::made_node(uint64_t graph, uint64_t node, uint64_t call_seq) {
  trace::NodeRecord made{};
  made.graph = graph;
  made.node = node;
  made.call_seq = call_seq;
  add(made, RecordType::node);
}

void ProcessBuilder::contents(uint64_t graph, uint64_t nodes) {
  trace::GraphContentsRecord record{};
  record.graph = graph;
  record.call_seq = calls_.back().h.seq;
  record.nodes = nodes;
  add(record, RecordType::graph_contents);
}

trace::GraphNodeRecord ProcessBuilder::node_of(uint64_t graph, uint64_t node, uint32_t kind) {
  trace::GraphNodeRecord record{};
  record.graph = graph;
  record.node = node;
  record.kind = kind;
  return record;
}

void ProcessBuilder::exec_node(trace::GraphNodeRecord record) {
  add(record, RecordType::exec_node);
  calls_.back().seq_end = ++seq_;
}

void ProcessBuilder::exec_kernel(uint64_t exec, uint64_t node, const std::string& name,
                                 const std::vector<uint64_t>& params) {
  trace::GraphNodeRecord record{};
  record.graph = exec;
  record.node = node;
  record.name = string(name);
  const std::string tail = param_bytes(record, params, false);
  add(record, RecordType::exec_node, tail);
  calls_.back().seq_end = ++seq_;
}

void ProcessBuilder::link(uint64_t graph, uint64_t node, uint32_t kind, uint64_t child) {
  trace::GraphLinkRecord record{};
  record.graph = graph;
  record.node = node;
  record.kind = kind;
  record.child = child;
  add(record, RecordType::graph_link);
}

void ProcessBuilder::clone(uint64_t graph, uint64_t node, uint64_t original) {
  trace::NodeCloneRecord record{};
  record.graph = graph;
  record.node = node;
  record.original = original;
  record.call_seq = calls_.back().h.seq;
  add(record, RecordType::node_clone);
}

void ProcessBuilder::kernel_node(uint64_t graph, uint64_t node, uint64_t call_seq, const std::string& name,
                                 const std::vector<uint64_t>& params, uint64_t module) {
  kernel(graph, node, call_seq, name, params, false, module);
}

void ProcessBuilder::struct_node(uint64_t graph, uint64_t node, uint64_t call_seq, const std::string& name,
                                 const std::vector<uint64_t>& words) {
  kernel(graph, node, call_seq, name, words, true, 0);
}

void ProcessBuilder::edge(uint64_t graph, uint64_t from, uint64_t to) {
  trace::GraphEdgeRecord record{};
  record.graph = graph;
  record.from = from;
  record.to = to;
  add(record, RecordType::graph_edge);
}

}  // namespace capgate::test
