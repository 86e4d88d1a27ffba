#include "detector/analysis/capture_list.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "detector/analysis/copy_operands.h"
#include "detector/analysis/graph_coverage.h"
#include "detector/analysis/graph_nodes.h"
#include "detector/analysis/judge.h"
#include "detector/analysis/kernel_name.h"
#include "detector/analysis/left_captures.h"
#include "detector/analysis/results.h"
#include "detector/analysis/thread_name.h"
#include "detector/trace/node_kind.h"
#include "reports/verdict/evidence.h"

namespace capgate::analysis {
namespace {

const char* kind_name(uint32_t kind) {
  static constexpr const char* kNames[] = {
      "kernel",       "memcpy",           "memset",         "host",  "graph", "empty", "event-wait",
      "event-record", "semaphore-signal", "semaphore-wait", "alloc", "free",  "memop", "conditional"};
  return kind < std::size(kNames) ? kNames[kind] : "other";
}

const char* mode_name(uint64_t mode) {
  static constexpr const char* kNames[] = {"global", "thread-local", "relaxed"};
  return mode < std::size(kNames) ? kNames[mode] : "unknown";
}

const char* memory_name(trace::Memory known) {
  static constexpr const char* kNames[] = {"memory",  "pageable", "pinned",    "device",
                                           "managed", "array",    "registered"};
  const auto memory = static_cast<size_t>(known);
  return memory < std::size(kNames) ? kNames[memory] : "memory";
}

std::string node_name(const Timeline& timeline, const trace::GraphNodeRecord& r) {
  constexpr size_t kLongestName = 200;
  if (r.name) return full_kernel_name(timeline.trace->text(r.name), kLongestName);
  if (r.kind == trace::kCopyNode)
    return size_text(r.bytes, r.bytes) + " " + memory_name(operand_memory(timeline, r.src, r.src_memory)) +
           " to " + memory_name(operand_memory(timeline, r.dst, r.dst_memory));
  if (r.kind == trace::kMemsetNode) return size_text(r.bytes, r.bytes);
  return {};
}

class Lister {
 public:
  explicit Lister(const Timeline& timeline) : timeline_(timeline), nodes_(timeline) {}
  bool holds_work(const ExecVersion& version) const { return analysis::holds_work(nodes_, version); }

  void fill(const Capture& capture, reports::Capture& out, size_t& room) const {
    std::unordered_map<uint64_t, uint64_t> ids;
    std::vector<reports::CaptureNode> listed;
    for (const auto* r : nodes_.of(capture)) {
      const uint64_t id = ids.size();
      ids.emplace(r->node, id);
      listed.push_back({id, kind_name(r->kind), stream_of(r->node, capture), node_name(timeline_, *r)});
    }
    std::vector<std::pair<uint64_t, uint64_t>> edges;
    std::map<uint64_t, int> ins, outs;
    bool straight = true;
    for (const auto& [before, after] : nodes_.edges_of(capture)) {
      const auto a = ids.find(before), b = ids.find(after);
      if (a == ids.end() || b == ids.end()) continue;
      edges.emplace_back(a->second, b->second);
      straight = straight && ++outs[a->second] == 1 && ++ins[b->second] == 1;
    }
    out.straight_line = straight && !listed.empty() && edges.size() + 1 == listed.size();
    if (listed.size() > room) return;
    room -= listed.size();
    out.nodes = std::move(listed);
    out.edges = std::move(edges);
  }

  // What an executable holds that no capture made. False: that is not known.
  bool fill(const Executable& exec, reports::Capture& out, size_t& room) const {
    const auto& version = exec.versions.back();
    if (!nodes_.holds(version.graph, version.as_of)) return false;
    const auto nodes = nodes_.in(version);
    if (nodes.size() > room) return true;
    room -= nodes.size();
    for (const auto& in : nodes)
      out.nodes.push_back({out.nodes.size(), kind_name(in.node->kind), "", node_name(timeline_, *in.node)});
    return true;
  }

 private:
  std::string stream_of(uint64_t node, const Capture& capture) const {
    const auto call = nodes_.maker(node, capture);
    if (!call) return {};
    const auto label = timeline_.stream_labels.find(stream_key(timeline_.call(*call)));
    return label == timeline_.stream_labels.end() ? std::string() : label->second;
  }

  const Timeline& timeline_;
  const GraphNodes nodes_;
};

std::string result_of(const Timeline& timeline, const Capture& capture) {
  switch (capture.state) {
    case CaptureState::completed:
      return "completed";
    case CaptureState::empty:
      return "empty";
    case CaptureState::open:
      return "open";
    case CaptureState::failed:
      break;
  }
  if (capture.left) return "failed:" + exception_type(timeline, *capture.left);
  const size_t call = capture.end ? *capture.end : capture.killer.value_or(capture.begin);
  return "failed:" + result_text(timeline.call(call).r.result, timeline.name(timeline.call(call)));
}

// Whether the capture was launched only as a part of other graphs: as a child of one, or in a conditional
// body.
bool is_nested(const Timeline& timeline, const Capture& capture) {
  if (capture.launches == 0 || capture.graph == 0) return false;
  return std::none_of(timeline.executables.begin(), timeline.executables.end(), [&](const Executable& exec) {
    return !exec.launches.empty() &&
           std::any_of(exec.versions.begin(), exec.versions.end(),
                       [&](const ExecVersion& version) { return version.graph == capture.graph; });
  });
}

}  // namespace

std::vector<reports::Capture> list_captures(const Timeline& timeline, size_t& room) {
  std::vector<reports::Capture> list;
  if (timeline.captures.empty() && timeline.executables.empty()) return list;
  const Lister lister(timeline);
  for (const auto& capture : timeline.captures) {
    const auto& begin = timeline.call(capture.begin).r;
    reports::Capture out;
    out.id = std::to_string(timeline.trace->pid) + ":" + std::to_string(capture.number + 1);
    out.process = std::to_string(timeline.trace->pid);
    if (!capture.bucket.empty()) out.bucket = capture.bucket;
    const auto stream = timeline.stream_labels.find(capture.stream);
    if (stream != timeline.stream_labels.end()) out.stream = stream->second;
    out.mode = mode_name(begin.arg);
    out.thread = thread_name(timeline, capture.tid);
    out.device = capture.device == trace::kNoDevice ? 0 : capture.device;
    out.result = result_of(timeline, capture);
    if (capture.end && timeline.call(*capture.end).r.t_end_ns > begin.t_begin_ns)
      out.duration_us = static_cast<double>(timeline.call(*capture.end).r.t_end_ns - begin.t_begin_ns) / 1e3;
    out.replays = capture.launches;
    if (is_nested(timeline, capture)) out.nested = true;
    lister.fill(capture, out, room);
    list.push_back(std::move(out));
  }
  for (const auto& exec : timeline.executables) {
    if (exec.launches.empty() || exec.versions.empty() || !exec.versions.back().captures.empty()) continue;
    const auto& launch = timeline.call(timeline.launches[exec.launches.front()].call);
    reports::Capture out;
    out.id = std::to_string(timeline.trace->pid) + ":g" + std::to_string(exec.number);
    out.process = std::to_string(timeline.trace->pid);
    out.mode = reports::kBuiltMode;
    out.thread = thread_name(timeline, launch.tid);
    out.device = launch.r.device == trace::kNoDevice ? 0 : launch.r.device;
    out.result = std::any_of(exec.versions.begin(), exec.versions.end(),
                             [&](const ExecVersion& version) { return lister.holds_work(version); })
                     ? "completed"
                     : "empty";
    out.replays = exec.launches.size();
    if (lister.fill(exec, out, room)) list.push_back(std::move(out));
  }
  return list;
}

}  // namespace capgate::analysis
