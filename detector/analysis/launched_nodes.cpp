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
  const auto add = [&](const Executable& exec, const NodeInGraph& node, bool edited, size_t call) {
    if (seen.emplace(node.node->node, call).second) out.push_back({&exec, node, edited});
  };
  for (const auto& exec : timeline.executables) {
    // Until when a node keeps the parameters that it has from `from` on.
    const auto kept_until = [&](uint64_t node, uint64_t from) {
      for (const auto& edit : exec.edits)
        if (edit.node && edit.node->node == node && edit.node->h.seq > from) return edit.node->h.seq;
      return kNever;
    };
    for (size_t v = 0; v < exec.versions.size(); ++v) {
      const auto& version = exec.versions[v];
      const uint64_t end = v + 1 < exec.versions.size() ? exec.versions[v + 1].from_seq : kNever;
      if (launches_between(timeline, exec, version.from_seq, end) == 0) continue;
      for (const auto& node : nodes.in(version)) {
        const uint64_t until =
            exec.edits.empty() ? end : std::min(end, kept_until(node.node->node, version.from_seq));
        if (until == end || launches_between(timeline, exec, version.from_seq, until) > 0)
          add(exec, node, false, node.maker.value_or(version.call));
      }
    }
    for (const auto& edit : exec.edits) {
      if (!edit.node) continue;
      const uint64_t from = edit.node->h.seq;
      uint64_t until = kept_until(edit.node->node, from);
      for (const auto& version : exec.versions)
        if (version.from_seq > from) until = std::min(until, version.from_seq);
      if (launches_between(timeline, exec, from, until) > 0)
        add(exec, {edit.node, edit.call, false}, true, edit.call);
    }
  }
  return out;
}

}  // namespace capgate::analysis
