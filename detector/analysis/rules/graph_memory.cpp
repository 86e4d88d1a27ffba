// graph-alloc-leak: a graph allocates memory that nothing frees, so that CUDA refuses to launch it again, or
// each graph of the kind leaves some behind.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/counted.h"
#include "detector/analysis/judge.h"
#include "detector/analysis/launched_nodes.h"
#include "detector/analysis/results.h"
#include "detector/trace/node_kind.h"

namespace capgate::analysis {
namespace {

using trace::Family;

constexpr uint64_t kAutoFreeOnLaunch = 1;  // cudaGraphInstantiateFlags
constexpr size_t kManyLeftBehind = 8;

// When an address was freed: by a call, or by the launch of a graph that holds its free node.
using Frees = std::unordered_map<uint64_t, std::vector<uint64_t>>;

bool freed_between(const Frees& frees, uint64_t address, uint64_t from, uint64_t to) {
  const auto found = frees.find(address);
  return found != frees.end() && std::any_of(found->second.begin(), found->second.end(),
                                             [&](uint64_t seq) { return seq > from && seq < to; });
}

// Allocation nodes whose memory outlives the launch.
std::vector<NodeInGraph> left_allocated(const std::vector<NodeInGraph>& nodes) {
  std::set<uint64_t> freed;
  for (const auto& in : nodes)
    if (in.node->kind == trace::kFreeNode) freed.insert(in.node->dst);
  std::vector<NodeInGraph> left;
  for (const auto& in : nodes)
    if (in.node->kind == trace::kAllocNode && in.node->dst != 0 && !freed.contains(in.node->dst))
      left.push_back(in);
  return left;
}

class Walk {
 public:
  Walk(Judge& judge, const GraphNodes& nodes) : judge_(judge), timeline_(judge.timeline()), nodes_(nodes) {
    for (const auto& call : timeline_.trace->calls) {
      const auto family = static_cast<Family>(call.r.family);
      if ((family == Family::free_async || family == Family::free_device) && call.r.result == 0)
        frees_[call.r.dst].push_back(call.r.h.seq);
      if (family == Family::graph_launch && call.r.result != 0 && !(call.r.flags & trace::kNested))
        refused_.push_back(static_cast<size_t>(&call - timeline_.trace->calls.data()));
    }
    for (const auto& exec : timeline_.executables) {
      if (exec.versions.empty()) continue;
      for (const auto& in : nodes_.in(exec.versions.back()))
        if (in.node->kind == trace::kFreeNode)
          for (const size_t launch : exec.launches) frees_[in.node->dst].push_back(seq_of(launch));
    }
  }

  std::set<size_t> run() {
    for (const auto& exec : timeline_.executables) {
      if (exec.versions.empty() || exec.launches.empty() || (exec.flags & kAutoFreeOnLaunch)) continue;
      const auto left = left_allocated(nodes_.in(exec.versions.back()));
      if (left.empty()) continue;
      relaunches(exec, left);
      const uint64_t last = seq_of(exec.launches.back());
      for (const auto& in : left)
        if (in.maker && !freed_between(frees_, in.node->dst, last, kNever))
          left_behind_[judge_.place(*in.maker).site].push_back(in);
    }
    for (const auto& [site, left] : left_behind_)
      if (left.size() >= kManyLeftBehind) grows(left);
    return std::move(explained_);
  }

 private:
  uint64_t seq_of(size_t launch) const { return timeline_.call(timeline_.launches[launch].call).r.h.seq; }

  void relaunches(const Executable& exec, const std::vector<NodeInGraph>& left) {
    std::vector<size_t> refused;
    const NodeInGraph* held = nullptr;
    for (const size_t call : refused_) {
      const auto& r = timeline_.call(call).r;
      if (r.object != exec.handle || r.h.seq < exec.made_seq || r.h.seq > exec.destroyed_seq ||
          is_refusal(r.result) || r.result == kCaptureInvalidated)
        continue;
      uint64_t last = 0;
      for (const size_t launch : exec.launches)
        if (seq_of(launch) < r.h.seq) last = seq_of(launch);
      if (last == 0) continue;
      for (const auto& in : left)
        if (!freed_between(frees_, in.node->dst, last, r.h.seq)) {
          if (!held) held = &in;
          refused.push_back(call);
          explained_.insert(call);
          break;
        }
    }
    if (held) report(*held, refused.front(), refused.size());
  }

  void report(const NodeInGraph& in, size_t refused, size_t times) {
    Finding finding = finding_of(in, refused);
    finding.details["refused launches"] = std::to_string(times);
    finding.message =
        "a graph allocates " + std::string(kSizeMark) + " here and nothing frees them: CUDA refused " +
        (times == 1 ? "the next launch" : "the next " + std::to_string(times) + " launches") + " of it";
    finding.size = in.node->bytes;
    judge_.report(finding);
  }

  void grows(const std::vector<NodeInGraph>& left) {
    uint64_t bytes = 0;
    for (const auto& in : left) bytes += in.node->bytes;
    Finding finding = finding_of(left.front(), *left.front().maker);
    finding.bytes = bytes;
    finding.details["graphs"] = std::to_string(left.size());
    finding.message = counted(left.size(), "graph") + " allocated " + size_text(bytes, bytes) +
                      " here, and nothing freed them: memory grows with each graph";
    judge_.report(finding);
  }

  Finding finding_of(const NodeInGraph& in, size_t call) const {
    Finding finding;
    finding.rule = "graph-alloc-leak";
    finding.phase = reports::Phase::replay;
    finding.severity = reports::Severity::error;
    finding.call = call;
    if (in.maker && *in.maker != call) {
      const auto& made = timeline_.call(*in.maker).r;
      finding.elsewhere =
          Elsewhere{made.stack, made.python_stack,
                    result_text(timeline_.call(call).r.result, timeline_.name(timeline_.call(call)))};
      finding.role = reports::StackRole::allocated;
      finding.more_stacks.emplace_back(reports::StackRole::call, call);
    }
    finding.bytes = in.node->bytes;
    return finding;
  }

  Judge& judge_;
  const Timeline& timeline_;
  const GraphNodes& nodes_;
  Frees frees_;
  std::vector<size_t> refused_;  // launches
  std::set<size_t> explained_;
  std::map<std::string, std::vector<NodeInGraph>> left_behind_;  // by the line that allocates
};

}  // namespace

std::set<size_t> judge_graph_memory(Judge& judge, const GraphNodes& nodes) {
  return Walk(judge, nodes).run();
}

}  // namespace capgate::analysis
