// host-pointer: a copy node whose operand is memory of the host's that may be gone or moved at a replay.
#include <set>

#include "detector/analysis/copy_operands.h"
#include "detector/analysis/graph_nodes.h"
#include "detector/analysis/judge.h"
#include "detector/trace/node_kind.h"

namespace capgate::analysis {
namespace {

using reports::Severity;
using trace::Family;

using Operands = std::pair<uint64_t, uint64_t>;  // destination, source

// Asynchronous copies with a pageable operand that were made into a capture: `pageable-copy` speaks of them,
// or has its reason not to.
std::map<int32_t, std::set<Operands>> copies_of_captures(Judge& judge) {
  std::map<int32_t, std::set<Operands>> copies;
  for (size_t i = 0; i < judge.process().trace.calls.size(); ++i) {
    const auto& r = judge.call(i).r;
    const int32_t capture = judge.context(i).stream_capture;
    if (capture != kNone && static_cast<Family>(r.family) == Family::memcpy_async &&
        (reads_pageable(judge.timeline(), r) || writes_pageable(judge.timeline(), r)))
      copies[capture].emplace(r.dst, r.src);
  }
  return copies;
}

void report_node(Judge& judge, const Capture& capture, const trace::GraphNodeRecord& node, size_t call,
                 bool reads) {
  const auto place = static_cast<trace::HostPlace>(reads ? node.src_place : node.dst_place);
  Finding finding;
  finding.rule = "host-pointer";
  finding.call = call;
  finding.capture = static_cast<int32_t>(capture.number);
  finding.severity = judge.window_severity(capture, Severity::error);
  finding.bytes = finding.size = node.bytes;
  finding.details["host memory"] = host_memory(place);
  finding.details["direction"] = reads ? "host to device" : "device to host";
  finding.message = "a copy node of " + judge.capture_name(capture) + (reads ? " reads " : " writes ") +
                    std::string(kSizeMark) + (reads ? " from " : " into ") + host_memory(place) +
                    ": every replay uses that address again";
  judge.report(finding);
}

}  // namespace

void judge_host_pointers(Judge& judge) {
  const Timeline& timeline = judge.timeline();
  if (timeline.trace->graph_nodes.empty()) return;
  const GraphNodes nodes(timeline);
  const auto copies = copies_of_captures(judge);
  for (const auto& capture : timeline.captures) {
    const auto own = copies.find(static_cast<int32_t>(capture.number));
    for (const auto* node : nodes.of(capture)) {
      if (node->kind != trace::kCopyNode || node->bytes == 0) continue;
      const bool reads = is_pageable_operand(timeline, node->src, node->src_memory, node->src_place);
      const bool writes = is_pageable_operand(timeline, node->dst, node->dst_memory, node->dst_place);
      // Both ends on the host, or neither: what the node is cannot be told for sure.
      if (reads == writes) continue;
      const auto place = static_cast<trace::HostPlace>(reads ? node->src_place : node->dst_place);
      if (place == trace::HostPlace::unknown || place == trace::HostPlace::mapping) continue;
      if (own != copies.end() && own->second.contains({node->dst, node->src})) continue;
      // Without the call that made it the end of its capture is the nearest known place.
      const auto maker = nodes.maker(node->node, capture);
      report_node(judge, capture, *node, maker.value_or(capture.end.value_or(capture.begin)), reads);
    }
  }
}

}  // namespace capgate::analysis
