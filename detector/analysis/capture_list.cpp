#include "detector/analysis/capture_list.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "detector/analysis/results.h"

namespace capgate::analysis {
namespace {

const char* kind_name(uint32_t kind) {
  static constexpr const char* kNames[] = {
      "kernel",       "memcpy",           "memset",         "host",  "graph", "empty", "event-wait",
      "event-record", "semaphore-signal", "semaphore-wait", "alloc", "free",  "memop", "conditional"};
  return kind < std::size(kNames) ? kNames[kind] : "other";
}

const char* mode_name(uint64_t mode) {
  return mode == 0 ? "global" : mode == 1 ? "thread-local" : mode == 2 ? "relaxed" : "unknown";
}

const char* memory_name(uint8_t memory) {
  static constexpr const char* kNames[] = {"memory",  "pageable", "pinned",    "device",
                                           "managed", "array",    "registered"};
  return memory < std::size(kNames) ? kNames[memory] : "memory";
}

std::string node_name(const trace::ProcessTrace& trace, const trace::GraphNodeRecord& r) {
  if (r.name) return std::string(trace.text(r.name).substr(0, 200));
  if (r.kind == 1)
    return std::to_string(r.bytes) + " bytes " + memory_name(r.src_memory) + " to " +
           memory_name(r.dst_memory);
  if (r.kind == 2) return std::to_string(r.bytes) + " bytes";
  return {};
}

class Lister {
 public:
  explicit Lister(const Timeline& timeline) : timeline_(timeline), trace_(*timeline.trace) {
    for (const auto& node : trace_.graph_nodes) nodes_[node.r.graph].push_back(&node.r);
    for (const auto& edge : trace_.graph_edges) edges_[edge.r.graph].push_back(&edge.r);
    for (const auto& capture : trace_.captures) records_[capture.r.graph].push_back(capture.r.h.seq);
    std::unordered_map<uint64_t, size_t> by_seq;
    for (size_t i = 0; i < trace_.calls.size(); ++i) by_seq[trace_.calls[i].r.h.seq] = i;
    for (const auto& node : trace_.nodes)
      if (const auto call = by_seq.find(node.r.call_seq); call != by_seq.end())
        made_by_[node.r.node].emplace_back(node.r.h.seq, call->second);
  }

  void fill(const Capture& capture, reports::Capture& out, size_t& room) const {
    if (!capture.record || !capture.graph) return;
    const uint64_t from = capture.record->h.seq;
    uint64_t to = kNever;  // a later graph at the same handle
    if (const auto seqs = records_.find(capture.graph); seqs != records_.end()) {
      const auto next = std::upper_bound(seqs->second.begin(), seqs->second.end(), from);
      if (next != seqs->second.end()) to = *next;
    }
    const auto nodes = nodes_.find(capture.graph);
    if (nodes == nodes_.end()) return;
    std::unordered_map<uint64_t, uint64_t> ids;
    std::vector<reports::CaptureNode> listed;
    for (const auto* r : nodes->second) {
      if (r->h.seq <= from || r->h.seq >= to) continue;
      const uint64_t id = ids.size();
      if (!ids.emplace(r->node, id).second) continue;
      listed.push_back({id, kind_name(r->kind), stream_of(r->node, capture), node_name(trace_, *r)});
    }
    std::vector<std::pair<uint64_t, uint64_t>> edges;
    std::map<uint64_t, int> ins, outs;
    bool straight = true;
    if (const auto found = edges_.find(capture.graph); found != edges_.end())
      for (const auto* r : found->second) {
        const auto a = ids.find(r->from), b = ids.find(r->to);
        if (r->h.seq <= from || r->h.seq >= to || a == ids.end() || b == ids.end()) continue;
        edges.emplace_back(a->second, b->second);
        straight = straight && ++outs[a->second] == 1 && ++ins[b->second] == 1;
      }
    out.straight_line = straight && !listed.empty() && edges.size() + 1 == listed.size();
    if (listed.size() > room) return;
    room -= listed.size();
    out.nodes = std::move(listed);
    out.edges = std::move(edges);
  }

 private:
  std::string stream_of(uint64_t node, const Capture& capture) const {
    const auto made = made_by_.find(node);
    if (made == made_by_.end()) return {};
    for (const auto& [seq, call] : made->second) {
      if (seq < capture.begin_seq || seq > capture.end_seq) continue;
      const auto label = timeline_.stream_labels.find(stream_key(timeline_.call(call)));
      return label == timeline_.stream_labels.end() ? std::string() : label->second;
    }
    return {};
  }

  const Timeline& timeline_;
  const trace::ProcessTrace& trace_;
  std::unordered_map<uint64_t, std::vector<const trace::GraphNodeRecord*>> nodes_;
  std::unordered_map<uint64_t, std::vector<const trace::GraphEdgeRecord*>> edges_;
  std::unordered_map<uint64_t, std::vector<uint64_t>> records_;
  std::unordered_map<uint64_t, std::vector<std::pair<uint64_t, size_t>>> made_by_;
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
  const size_t call = capture.end ? *capture.end : capture.killer.value_or(capture.begin);
  return "failed:" + result_text(timeline.call(call).r.result);
}

}  // namespace

std::vector<reports::Capture> list_captures(const Timeline& timeline, size_t& room) {
  std::vector<reports::Capture> list;
  if (timeline.captures.empty()) return list;
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
    const auto thread = timeline.thread_names.find(capture.tid);
    out.thread = capture.tid == timeline.trace->pid      ? "main"
                 : thread == timeline.thread_names.end() ? std::to_string(capture.tid)
                                                         : thread->second;
    out.device = capture.device == trace::kNoDevice ? 0 : capture.device;
    out.result = result_of(timeline, capture);
    if (capture.end && timeline.call(*capture.end).r.t_end_ns > begin.t_begin_ns)
      out.duration_us = static_cast<double>(timeline.call(*capture.end).r.t_end_ns - begin.t_begin_ns) / 1e3;
    out.replays = capture.launches;
    lister.fill(capture, out, room);
    list.push_back(std::move(out));
  }
  return list;
}

}  // namespace capgate::analysis
