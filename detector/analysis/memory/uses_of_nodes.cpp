// The part of Executables that looks up whose the addresses of nodes are.

#include "detector/analysis/memory/executables.h"
#include "detector/analysis/memory/held_memory.h"
#include "detector/trace/node_params.h"

namespace capgate::analysis {

std::vector<std::pair<BlockId, Held>> Executables::owned(const Held& of) {
  std::vector<Held> held;
  add_held(*timeline_.trace, of, held);
  std::vector<std::pair<BlockId, Held>> out;
  std::map<uint32_t, size_t> addresses;  // by parameter: words of it that are one
  const uint32_t kernel = of.node->name;
  for (Held& use : held) {
    if (use.use == Use::word) addresses.try_emplace(use.parameter);
    const auto block = owners_.of(use.address, use.seq);
    if (!block) continue;
    if (use.use == Use::word) {
      ++addresses[use.parameter];
      if (words_.is_pointer(kernel, use.parameter, use.word)) use.use = Use::parameter;
    }
    out.emplace_back(*block, use);
  }
  if (addresses.empty() || kernel == 0) return out;
  const auto params = trace::node_params(*timeline_.trace, *of.node);
  for (const auto& [parameter, count] : addresses) {
    const size_t bytes = params[parameter].bytes.size();
    words_.seen(kernel, parameter, (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t), count);
  }
  return out;
}

void Executables::hold(HeldGraph& graph, const Held& of) {
  for (const auto& [block, held] : owned(of)) keep(graph, block, held);
}

void Executables::hold(HeldGraph& graph, const NodeInGraph& node, uint64_t as_of, size_t call) {
  Held of;
  of.node = node.node;
  of.outer = node.outer;
  of.maker = node.maker.value_or(call);
  if (node.maker) of.capture = timeline_.contexts[*node.maker].stream_capture;
  of.seq = nodes_.params_since(node.node->node, as_of);
  if (of.seq == 0) of.seq = as_of;
  hold(graph, of);
}

void Executables::keep(HeldGraph& graph, BlockId block, const Held& held) {
  if (graph.uses.add(block, held)) watch(graph, block);
}

void Executables::watch(HeldGraph& graph, BlockId block) {
  if (owners_.blocks()[block].death)
    graph.dead.push_back(block);
  else
    users_[block].push_back(&graph);
}

void Executables::bury(const std::vector<BlockId>& dead) {
  for (const BlockId id : dead) {
    const auto users = users_.find(id);
    if (users == users_.end()) continue;
    for (HeldGraph* graph : users->second) graph->dead.push_back(id);
    users_.erase(users);
  }
}

void Executables::replace(HeldGraph& graph, BlockId block, BlockId by) {
  if (graph.uses.move(block, by)) watch(graph, by);
}

bool Executables::became_the_graphs(HeldGraph& graph, BlockId block) {
  const auto pool = owners_.pool_of_graphs(block);
  if (pool) replace(graph, block, *pool);
  return pool.has_value();
}

bool Executables::is_surely_a_pointer(const Held& held) const {
  return held.use == Use::word && words_.are_addresses(held.node->name, held.parameter);
}

}  // namespace capgate::analysis
