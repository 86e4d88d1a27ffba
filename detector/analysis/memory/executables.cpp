#include "detector/analysis/memory/executables.h"

namespace capgate::analysis {

Executables::Executables(const Timeline& timeline, const Owners& owners)
    : timeline_(timeline),
      owners_(owners),
      nodes_(timeline),
      words_(*timeline.trace),
      of_capture_(timeline.captures.size()),
      execs_(timeline.executables.size()) {}

void Executables::captured(size_t number) {
  const Capture& capture = timeline_.captures[number];
  HeldGraph& graph = add_graph();
  of_capture_[number] = &graph;
  const size_t end = capture.end.value_or(capture.begin);
  for (const auto* node : nodes_.of(capture)) {
    Held of;
    of.node = node;
    of.maker = nodes_.maker(node->node, capture).value_or(end);
    of.capture = static_cast<int32_t>(number);
    of.seq = timeline_.call(of.maker).r.h.seq;
    hold(graph, of);
  }
}

HeldGraph* Executables::held_by(const ExecVersion& version) {
  const auto since = nodes_.alone_since(version);
  for (const int32_t number : version.captures) {
    const Capture& capture = timeline_.captures[static_cast<size_t>(number)];
    if (since && capture.graph == version.graph && capture.record && capture.record->h.seq == *since)
      return of_capture_[static_cast<size_t>(number)];
  }
  if (!nodes_.holds(version.graph, version.as_of))
    // A trace of version 1 has no more of a clone than the capture that it comes from.
    return version.captures.empty() ? nullptr : of_capture_[static_cast<size_t>(version.captures.back())];
  HeldGraph*& known = by_contents_[{version.graph, since.value_or(version.as_of)}];
  if (known) return known;
  known = &add_graph();
  for (const auto& node : nodes_.in(version)) hold(*known, node, version.as_of, version.call);
  return known;
}

void Executables::made(size_t number, size_t version) {
  const Executable& executable = timeline_.executables[number];
  Exec& exec = execs_[number];
  by_handle_[executable.handle] = number;
  exec.version = version;
  exec.own = false;
  exec.off.clear();
  exec.holds = held_by(executable.versions[version]);
}

void Executables::make_own(size_t number) {
  Exec& exec = execs_[number];
  if (std::exchange(exec.own, true)) return;
  HeldGraph& graph = add_graph();
  graph.uses = exec.holds->uses;
  graph.dead = exec.holds->dead;
  graph.uses.index(nodes_.in(timeline_.executables[number].versions[exec.version]));
  for (const BlockId block : graph.uses.blocks())
    if (!owners_.blocks()[block].death) users_[block].push_back(&graph);
  exec.holds = &graph;
}

void Executables::edited(size_t number, size_t edit) {
  Exec& exec = execs_[number];
  if (!exec.holds) return;
  make_own(number);
  const ExecEdit& what = timeline_.executables[number].edits[edit];
  // By the handle of another graph's node, one like that which was instantiated: which it is, is not known.
  if (!exec.holds->uses.has_node(what.of)) {
    exec.holds = nullptr;
    return;
  }
  switch (what.what) {
    case ExecEdit::What::parameters:
      set_node(exec, what);
      break;
    case ExecEdit::What::child:
      set_child(exec, what);
      break;
    case ExecEdit::What::off:
    case ExecEdit::What::on:
      switch_node(exec, what);
      break;
  }
}

void Executables::set_node(Exec& exec, const ExecEdit& edit) {
  const auto off = exec.off.find(edit.of);
  if (!edit.node) {  // what it uses now is not known
    exec.holds->uses.drop_node(edit.of);
    if (off != exec.off.end()) off->second.reset();
    return;
  }
  Held of;
  of.node = edit.node;
  of.maker = edit.call;
  of.edited = true;
  of.seq = edit.seq;
  if (off != exec.off.end()) {
    off->second = of;
    return;
  }
  const auto uses = owned(of);
  std::vector<BlockId> blocks;
  for (const auto& [block, held] : uses)
    if (blocks.empty() || blocks.back() != block) blocks.push_back(block);
  if (blocks == exec.holds->uses.blocks_of(edit.of)) return;
  exec.holds->uses.drop_node(edit.of);
  for (const auto& [block, held] : uses) keep(*exec.holds, block, held);
}

void Executables::set_child(Exec& exec, const ExecEdit& edit) {
  exec.holds->uses.drop_inner(edit.of);
  auto nodes = nodes_.in(edit.child, edit.as_of);
  for (auto& node : nodes) node.outer = edit.of;
  exec.holds->uses.index(nodes);
  for (const auto& node : nodes) hold(*exec.holds, node, edit.as_of, edit.call);
}

void Executables::switch_node(Exec& exec, const ExecEdit& edit) {
  const auto off = exec.off.find(edit.of);
  if (edit.what == ExecEdit::What::off && off == exec.off.end()) {
    const auto dropped = exec.holds->uses.drop_node(edit.of);
    exec.off[edit.of] = dropped.empty() ? std::nullopt : std::optional(dropped.front().second);
  } else if (edit.what == ExecEdit::What::on && off != exec.off.end()) {
    if (off->second) hold(*exec.holds, *off->second);
    exec.off.erase(off);
  }
}

HeldGraph* Executables::launched(size_t number) {
  ++execs_[number].launches;
  return execs_[number].holds;
}

void Executables::gone(uint64_t handle) {
  const auto known = by_handle_.find(handle);
  if (known == by_handle_.end()) return;
  execs_[known->second].gone = true;
  by_handle_.erase(known);
}

std::optional<size_t> Executables::ran_before(uint64_t handle) const {
  const auto known = by_handle_.find(handle);
  if (known == by_handle_.end() || execs_[known->second].launches == 0) return std::nullopt;
  return known->second;
}

std::vector<HeldGraph*> Executables::kept() {
  std::map<size_t, HeldGraph*> kept;
  for (const Exec& exec : execs_)
    if (exec.holds && exec.launches > 0 && !exec.gone) kept[exec.holds->number] = exec.holds;
  std::vector<HeldGraph*> out;
  out.reserve(kept.size());
  for (const auto& [number, graph] : kept) out.push_back(graph);
  return out;
}

}  // namespace capgate::analysis
