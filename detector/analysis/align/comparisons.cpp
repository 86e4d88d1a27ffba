#include "detector/analysis/align/comparisons.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "detector/trace/node_kind.h"
#include "detector/trace/node_params.h"

namespace capgate::analysis {
namespace {

bool same_sizes(const trace::GraphNodeRecord& a, const trace::GraphNodeRecord& b) {
  return std::memcmp(a.grid, b.grid, sizeof a.grid) == 0 &&
         std::memcmp(a.block, b.block, sizeof a.block) == 0;
}

bool is_accepted(size_t matched, size_t nodes) {
  return matched > 0 && matched * 20 >= nodes * 19;
}

// What follows what in a graph, by its nodes' handles.
class Order {
 public:
  explicit Order(const std::vector<std::pair<uint64_t, uint64_t>>& edges) {
    for (const auto& [from, to] : edges) after_[from].push_back(to);
  }
  bool follows(uint64_t from, uint64_t to) const {
    std::set<uint64_t> seen{from};
    std::vector<uint64_t> open{from};
    while (!open.empty()) {
      const auto next = after_.find(open.back());
      open.pop_back();
      if (next == after_.end()) continue;
      for (const uint64_t node : next->second) {
        if (node == to) return true;
        if (seen.insert(node).second) open.push_back(node);
      }
    }
    return false;
  }

 private:
  std::unordered_map<uint64_t, std::vector<uint64_t>> after_;
};

class Comparer {
 public:
  Comparer(const Timeline& timeline, const GraphNodes& nodes, WorkKeys& keys,
           const std::vector<ReplayEvidence>& evidence)
      : timeline_(timeline), nodes_(nodes), keys_(keys), evidence_(evidence) {
    for (const auto& exec : timeline.executables)
      if (const int32_t capture = only_capture(exec); capture != kNone && bucket_of(capture).empty())
        unnamed_.insert(capture);
  }

  void graphs(Comparisons& out) {
    std::set<int32_t> known;
    for (const auto& exec : timeline_.executables) {
      const int32_t capture = only_capture(exec);
      if (capture == kNone || !known.insert(capture).second) continue;
      Comparison one;
      one.exec = &exec;
      one.capture = capture;
      one.made_seq = timeline_.captures[static_cast<size_t>(capture)].begin_seq;
      one.nodes = keys_.of_graph(nodes_, exec.versions.front());
      if (one.nodes.empty()) continue;
      for (const auto& edit : exec.edits) note_edit(edit, one);
      compare(out.eager, one);
      out.all.push_back(std::move(one));
    }
  }

  // Each pass is compared with the last one of its bucket, which stands for the graph that is to be.
  void steps(Comparisons& out) {
    std::map<std::string, const EagerStep*> last;  // by bucket
    for (const auto& step : out.eager)
      if (!step.of) last[step.bucket] = &step;
    for (const auto& [bucket, of] : last) {
      Comparison one;
      one.made_seq = of->begin_seq;
      one.nodes = of->work;
      for (const auto& step : out.eager)
        if (!step.of && &step != of && step.bucket == bucket && step.tid == of->tid) add(step, one);
      if (one.was_compared()) out.all.push_back(std::move(one));
    }
  }

 private:
  // Of an executable that was launched and holds the work of one capture, as it was instantiated.
  static int32_t only_capture(const Executable& exec) {
    if (exec.launches.empty() || exec.versions.size() != 1 || exec.versions.front().captures.size() != 1)
      return kNone;
    return exec.versions.front().captures.front();
  }

  const std::string& bucket_of(int32_t capture) const {
    return timeline_.captures[static_cast<size_t>(capture)].bucket;
  }

  static void note_edit(const ExecEdit& edit, Comparison& one) {
    for (size_t i = 0; i < one.nodes.size(); ++i)
      if (edit.what != ExecEdit::What::parameters || one.nodes[i].record->node == edit.of)
        one.edited.insert(i);
  }

  bool goes_with(const EagerStep& step, const Comparison& one) const {
    if (step.of)
      return std::any_of(evidence_.begin(), evidence_.end(), [&](const ReplayEvidence& evidence) {
        return evidence.of == step.of && evidence.exec == one.exec;
      });
    const std::string& bucket = bucket_of(one.capture);
    // Without a name, nothing tells which of several graphs replaces the step.
    return step.bucket == bucket && (!bucket.empty() || unnamed_.size() == 1);
  }

  void compare(const std::vector<EagerStep>& eager, Comparison& one) {
    bool any = false;
    for (const auto& step : eager) {
      if (!goes_with(step, one)) continue;
      any = true;
      add(step, one);
    }
    if (any && one.steps.empty()) one.why = "the captured path differs";
  }

  void add(const EagerStep& step, Comparison& one) {
    const auto& trace = *timeline_.trace;
    Matching matching =
        match(step.work, one.nodes, [&](const Work& a, const Work& b) { return likeness(trace, a, b); });
    one.nearest = std::max(one.nearest, matching.matched);
    if (!is_accepted(matching.matched, one.nodes.size()) || is_out_of_order(matching, one)) return;
    AlignedStep aligned{&step, std::move(matching.eager_of), matching.matched};
    if (!step.of && is_of_another_shape(aligned, one)) return;
    one.steps.push_back(std::move(aligned));
  }

  // Streams that a capture forks may be given their work in either order.
  bool is_out_of_order(const Matching& matching, const Comparison& one) const {
    if (matching.crossing.empty()) return false;
    if (one.capture == kNone) return true;
    const Order order(nodes_.edges_of(timeline_.captures[static_cast<size_t>(one.capture)]));
    return std::any_of(matching.crossing.begin(), matching.crossing.end(), [&](const auto& pair) {
      return order.follows(one.nodes[pair.first].record->node, one.nodes[pair.second].record->node);
    });
  }

  // Another batch size changes most kernels at once; a value that goes stale changes those that are given it.
  static bool is_of_another_shape(const AlignedStep& aligned, const Comparison& one) {
    constexpr size_t kFewKernels = 4;
    size_t kernels = 0, other = 0;
    for (size_t i = 0; i < one.nodes.size(); ++i) {
      const auto *node = one.nodes[i].record, *launch = aligned.launch_of(i);
      if (!node || !launch || node->kind != trace::kKernelNode) continue;
      ++kernels;
      other += same_sizes(*node, *launch) ? 0 : 1;
    }
    return kernels >= kFewKernels && other * 2 > kernels;
  }

  const Timeline& timeline_;
  const GraphNodes& nodes_;
  WorkKeys& keys_;
  const std::vector<ReplayEvidence>& evidence_;
  std::set<int32_t> unnamed_;  // captures whose graphs were launched
};

}  // namespace

int likeness(const trace::ProcessTrace& trace, const Work& a, const Work& b) {
  if (!a.record || !b.record) return 0;
  if (a.record->kind != trace::kKernelNode) return a.record->bytes == b.record->bytes ? 10 : 0;
  int out = same_sizes(*a.record, *b.record) ? 10 : 0;
  const auto ours = trace::node_params(trace, *a.record), theirs = trace::node_params(trace, *b.record);
  if (ours.empty() || ours.size() != theirs.size()) return out;
  size_t equal = 0;
  for (size_t i = 0; i < ours.size(); ++i)
    equal +=
        std::equal(ours[i].bytes.begin(), ours[i].bytes.end(), theirs[i].bytes.begin(), theirs[i].bytes.end())
            ? 1
            : 0;
  return out + static_cast<int>(90 * equal / ours.size());
}

Comparisons compare_graphs(const Timeline& timeline, const GraphNodes& nodes, WorkKeys& keys,
                           const std::vector<Verification>& verifications,
                           const std::vector<ReplayEvidence>& evidence) {
  Comparisons out;
  out.eager = eager_steps(timeline, keys, verifications);
  if (out.eager.empty()) return out;
  out.around = around_launches(timeline, keys, out.eager, verifications);
  Comparer comparer(timeline, nodes, keys, evidence);
  comparer.graphs(out);
  if (timeline.captures.empty() && timeline.launches.empty()) comparer.steps(out);
  return out;
}

}  // namespace capgate::analysis
