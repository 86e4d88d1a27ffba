#include "detector/analysis/timeline/graph_replays.h"

#include <algorithm>

namespace capgate::analysis {

using trace::ObjectOp;

namespace {
constexpr int kMostNested = 16;

void add_once(std::vector<int32_t>& list, int32_t capture) {
  if (std::find(list.begin(), list.end(), capture) == list.end()) list.push_back(capture);
}

}  // namespace

const ExecVersion* Executable::version_at(uint64_t seq) const {
  const ExecVersion* found = nullptr;
  for (const auto& version : versions)
    if (version.from_seq <= seq) found = &version;
  return found;
}

GraphReplays::GraphReplays(Timeline& out) : out_(out), windows_(*out.trace) {
  for (const auto& link : out.trace->graph_links) links_[link.r.graph].push_back(&link.r);
  for (const auto& node : out.trace->exec_nodes) edits_[node.r.graph].push_back(&node.r);
}

void GraphReplays::captured(int32_t capture) {
  if (const uint64_t graph = out_.captures[static_cast<size_t>(capture)].graph)
    add_once(graphs_[graph], capture);
}

void GraphReplays::node(const trace::NodeRecord& node) {
  node_graphs_[node.node] = node.graph;
}

// A child graph is the copy of the graph that it was made of: it holds the work of the same captures.
void GraphReplays::clone(const trace::NodeCloneRecord& clone) {
  node_graphs_[clone.node] = clone.graph;
  const auto from = node_graphs_.find(clone.original);
  if (from == node_graphs_.end() || from->second == clone.graph) return;
  const auto held = graphs_.find(from->second);
  if (held == graphs_.end()) return;
  const Captures captures = held->second;
  for (const int32_t capture : captures) add_once(graphs_[clone.graph], capture);
}

void GraphReplays::graph(const trace::Object& object) {
  const auto op = static_cast<ObjectOp>(object.r.op);
  if (op == ObjectOp::cloned) {
    if (const auto from = graphs_.find(object.r.other); from != graphs_.end())
      graphs_[object.r.object] = std::vector(from->second);
  } else if (op == ObjectOp::destroyed) {
    graphs_.erase(object.r.object);
  }
}

void GraphReplays::captures_in(uint64_t graph, uint64_t as_of, int depth, Captures& out) const {
  if (const auto held = graphs_.find(graph); held != graphs_.end())
    for (const int32_t capture : held->second) add_once(out, capture);
  const auto links = links_.find(graph);
  if (links == links_.end() || depth == kMostNested) return;
  const auto [from, to] = windows_.at(graph, as_of);
  for (const auto* link : links->second)
    if (link->h.seq > from && link->h.seq < to) captures_in(link->child, as_of, depth + 1, out);
}

ExecVersion GraphReplays::version_of(uint64_t graph, uint64_t seq) const {
  ExecVersion version;
  version.from_seq = seq;
  version.as_of = windows_.written_by(seq);
  version.graph = graph;
  captures_in(graph, version.as_of, 0, version.captures);
  return version;
}

Executable& GraphReplays::add(uint64_t exec, uint64_t seq) {
  execs_[exec] = out_.executables.size();
  Executable& made = out_.executables.emplace_back();
  made.number = out_.executables.size();
  made.handle = exec;
  made.made_seq = seq;
  return made;
}

Executable* GraphReplays::known(uint64_t exec) {
  const auto found = execs_.find(exec);
  return found == execs_.end() ? nullptr : &out_.executables[found->second];
}

void GraphReplays::exec(const trace::Object& object) {
  const auto op = static_cast<ObjectOp>(object.r.op);
  if (op == ObjectOp::made && object.r.other && !known(object.r.object)) {
    // Made by a call that the trace does not hold.
    ExecVersion version = version_of(object.r.other, object.r.h.seq);
    add(object.r.object, object.r.h.seq).versions.push_back(std::move(version));
  } else if (op == ObjectOp::destroyed) {
    if (Executable* gone = known(object.r.object)) gone->destroyed_seq = object.r.h.seq;
    execs_.erase(object.r.object);
  }
}

void GraphReplays::instantiate(size_t index) {
  const Call& call = out_.call(index);
  if (call.r.result != 0 || call.r.out == 0) return;
  ExecVersion version = version_of(call.r.object2 ? call.r.object2 : call.r.object, call.r.h.seq);
  version.call = index;
  Executable& made = add(call.r.out, call.r.h.seq);
  made.flags = call.r.arg;
  made.versions.push_back(std::move(version));
}

void GraphReplays::update(size_t index) {
  const Call& call = out_.call(index);
  if (call.r.result != 0 || call.r.object2 == 0) return;
  Executable* exec = known(call.r.object);
  if (!exec) exec = &add(call.r.object, 0);
  ExecVersion version = version_of(call.r.object2, call.r.h.seq);
  version.call = index;
  exec->versions.push_back(std::move(version));
}

void GraphReplays::edit(size_t index) {
  const Call& call = out_.call(index);
  Executable* exec = known(call.r.object);
  if (call.r.result != 0 || !exec) return;
  ExecEdit edit{index, call.r.h.seq, call.r.object2};
  const std::string_view name = out_.name(call);
  if (name.find("NodeSetEnabled") != std::string_view::npos) {
    edit.what = call.r.arg != 0 ? ExecEdit::What::on : ExecEdit::What::off;
  } else if (name.find("ChildGraphNodeSetParams") != std::string_view::npos) {
    edit.what = ExecEdit::What::child;
    edit.child = call.r.src;
    edit.as_of = edit.seq = windows_.written_by(call.r.h.seq);
  } else if (const auto nodes = edits_.find(call.r.object); nodes != edits_.end()) {
    const auto at = std::lower_bound(nodes->second.begin(), nodes->second.end(), call.r.h.seq,
                                     [](const auto* node, uint64_t seq) { return node->h.seq < seq; });
    if (at != nodes->second.end() && (*at)->h.seq < call.r.seq_end) {
      edit.node = *at;
      edit.seq = (*at)->h.seq;
      edit.of = (*at)->node;
    }
  }
  exec->edits.push_back(edit);
}

void GraphReplays::destroy(const Call& call) {
  if (call.r.result != 0) return;
  if (Executable* gone = known(call.r.object)) gone->destroyed_seq = call.r.h.seq;
}

void GraphReplays::launch(size_t index) {
  const Call& call = out_.call(index);
  if (call.r.result != 0 || out_.contexts[index].stream_capture != kNone) return;
  Executable* exec = known(call.r.object);
  if (!exec) exec = &add(call.r.object, 0);
  exec->launches.push_back(out_.launches.size());
  int32_t first = kNone;
  if (!exec->versions.empty()) {
    const auto& captures = exec->versions.back().captures;
    if (!captures.empty()) first = captures.back();
    for (const int32_t capture : captures) ++out_.captures[static_cast<size_t>(capture)].launches;
  }
  out_.launches.push_back({index, exec->number, first});
}

}  // namespace capgate::analysis
