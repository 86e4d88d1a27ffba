#include "detector/analysis/launched_nodes.h"

#include <algorithm>
#include <set>
#include <utility>

namespace capgate::analysis {

size_t launches_between(const Timeline& timeline, const Executable& exec, uint64_t from, uint64_t to) {
  const auto seq_of = [&](size_t launch) { return timeline.call(timeline.launches[launch].call).r.h.seq; };
  const auto first = std::upper_bound(exec.launches.begin(), exec.launches.end(), from,
                                      [&](uint64_t seq, size_t launch) { return seq < seq_of(launch); });
  const auto last = std::lower_bound(first, exec.launches.end(), to,
                                     [&](size_t launch, uint64_t seq) { return seq_of(launch) < seq; });
  return static_cast<size_t>(last - first);
}

bool is_captured(const Timeline& timeline, const NodeInGraph& node) {
  return node.maker && timeline.contexts[*node.maker].stream_capture != kNone;
}

std::vector<LaunchedNode> launched_nodes(const Timeline& timeline, const GraphNodes& nodes) {
  std::vector<LaunchedNode> out;
  std::set<std::pair<uint64_t, size_t>> seen;  // node, call
  const auto add = [&](const LaunchedNode& node, size_t call) {
    if (seen.emplace(node.in.node->node, call).second) out.push_back(node);
  };
  for (const auto& exec : timeline.executables) {
    // Until when a node keeps the parameters that it has from `from` on.
    const auto kept_until = [&](uint64_t node, uint64_t outer, uint64_t from) {
      for (const auto& edit : exec.edits)
        if (edit.seq > from && ((edit.node && edit.of == node) ||
                                (edit.what == ExecEdit::What::child && outer != 0 && edit.of == outer)))
          return edit.seq;
      return kNever;
    };
    for (size_t v = 0; v < exec.versions.size(); ++v) {
      const auto& version = exec.versions[v];
      const uint64_t end = v + 1 < exec.versions.size() ? exec.versions[v + 1].from_seq : kNever;
      if (launches_between(timeline, exec, version.from_seq, end) == 0) continue;
      for (const auto& node : nodes.in(version)) {
        const uint64_t until = exec.edits.empty()
                                   ? end
                                   : std::min(end, kept_until(node.node->node, node.outer, version.from_seq));
        if (until == end || launches_between(timeline, exec, version.from_seq, until) > 0)
          add({&exec, node, false, version.from_seq, until}, node.maker.value_or(version.call));
      }
    }
    for (const auto& edit : exec.edits) {
      uint64_t end = kNever;
      for (const auto& version : exec.versions)
        if (version.from_seq > edit.seq) end = std::min(end, version.from_seq);
      const auto until = [&](uint64_t node, uint64_t outer) {
        return std::min(end, kept_until(node, outer, edit.seq));
      };
      const auto runs = [&](uint64_t node, uint64_t outer) {
        return launches_between(timeline, exec, edit.seq, until(node, outer)) > 0;
      };
      if (edit.node && runs(edit.of, 0))
        add({&exec, {edit.node, edit.call, false, 0}, true, edit.seq, until(edit.of, 0)}, edit.call);
      if (edit.what != ExecEdit::What::child || !runs(0, edit.of)) continue;
      for (const auto& node : nodes.in(edit.child, edit.as_of))
        if (runs(node.node->node, edit.of))
          add({&exec,
               {node.node, edit.call, node.in_condition, edit.of},
               true,
               edit.seq,
               until(node.node->node, edit.of)},
              edit.call);
    }
  }
  return out;
}

}  // namespace capgate::analysis
