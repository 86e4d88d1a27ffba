// graph-refused: CUDA refused to instantiate, update, upload or launch a graph. The node is named where CUDA
// names it, or where what CUDA is known to refuse stands in the graph; else the call.
#include <algorithm>

#include "detector/analysis/judge.h"
#include "detector/analysis/launched_nodes.h"
#include "detector/analysis/results.h"
#include "detector/trace/node_kind.h"

namespace capgate::analysis {
namespace {

using reports::Severity;
using trace::Family;

constexpr uint64_t kDeviceLaunch = 4;  // cudaGraphInstantiateFlags

const char* kind_text(uint32_t kind) {
  switch (kind) {
    case trace::kKernelNode:
      return "a kernel node";
    case trace::kCopyNode:
      return "a copy node";
    case trace::kMemsetNode:
      return "a memset node";
    case trace::kHostNode:
      return "a host function";
    case trace::kChildNode:
      return "a child graph";
    case trace::kEmptyNode:
      return "an empty node";
    case trace::kEventWaitNode:
      return "a wait for an event";
    case trace::kEventRecordNode:
      return "an event record";
    case trace::kAllocNode:
      return "an allocation";
    case trace::kFreeNode:
      return "a free";
    case trace::kConditionalNode:
      return "a conditional node";
    default:
      return "a node";
  }
}

bool is_pageable(const trace::GraphNodeRecord& node) {
  const auto pageable = [](uint8_t memory) {
    return static_cast<trace::Memory>(memory) == trace::Memory::pageable;
  };
  return node.kind == trace::kCopyNode && (pageable(node.src_memory) || pageable(node.dst_memory));
}

// Measured on an H200 with CUDA 13.0: docs/design/graphs.md. Empty: nothing is known against it.
std::string known_refusal(const NodeInGraph& in, uint64_t flags) {
  const uint32_t kind = in.node->kind;
  const bool plain = kind == trace::kKernelNode || kind == trace::kCopyNode || kind == trace::kMemsetNode ||
                     kind == trace::kChildNode;
  if (in.in_condition && !plain && kind != trace::kEmptyNode && kind != trace::kConditionalNode)
    return std::string(kind_text(kind)) + " in the body of a conditional node";
  if (in.in_condition && is_pageable(*in.node))
    return "a copy with pageable host memory in the body of a conditional node";
  if ((flags & kDeviceLaunch) && !plain)
    return std::string(kind_text(kind)) + " in a graph that the device is to launch";
  return {};
}

struct Blamed {
  std::optional<NodeInGraph> node;
  std::string what;
  size_t candidates = 0;
  bool by_cuda = false;
};

Blamed find_blamed(const GraphNodes& nodes, const trace::CallRecord& r) {
  Blamed out;
  const auto family = static_cast<Family>(r.family);
  if (family != Family::graph_instantiate && family != Family::graph_exec_update) return out;
  const auto all = nodes.in(r.object2, nodes.as_of(r.h.seq));
  for (const auto& in : all) {
    if (r.dst != 0 && in.node->node == r.dst) {
      const std::string known = known_refusal(in, r.arg);
      return {in, known.empty() ? kind_text(in.node->kind) : known, 1, true};
    }
    if (family == Family::graph_exec_update) continue;
    const std::string known = known_refusal(in, r.arg);
    if (known.empty()) continue;
    if (++out.candidates > 1) continue;
    out.node = in;
    out.what = known;
  }
  return out;
}

const char* update_reason(uint64_t reason) {
  switch (reason) {  // cudaGraphExecUpdateResult
    case 2:
      return "the new graph has other nodes or edges";
    case 3:
      return "a node has another kind";
    case 4:
      return "a node has another kernel";
    case 5:
      return "a parameter changed that no update may change";
    case 6:
      return "a node cannot be updated";
    case 7:
      return "a kernel changed to one that the update does not support";
    case 8:
      return "a node's attributes changed";
    default:
      return "";
  }
}

const char* verb(Family family) {
  switch (family) {
    case Family::graph_instantiate:
      return "instantiate a graph";
    case Family::graph_exec_update:
      return "update an executable graph";
    case Family::graph_upload:
      return "upload a graph";
    default:
      return "launch a graph";
  }
}

// The graph that was to be updated is launched afterwards, and CUDA takes it.
bool runs_on(const Judge& judge, size_t refused) {
  const auto& r = judge.call(refused).r;
  const Timeline& timeline = judge.timeline();
  for (const auto& old : timeline.executables)
    if (old.handle == r.object && old.made_seq < r.h.seq && old.destroyed_seq > r.h.seq)
      return std::any_of(old.launches.begin(), old.launches.end(), [&](size_t launch) {
        const auto& call = timeline.call(timeline.launches[launch].call).r;
        return call.h.seq > r.h.seq && call.result == 0;
      });
  return false;
}

// Another executable takes its place before anybody misses it.
bool is_handled(const Judge& judge, size_t refused) {
  const auto& r = judge.call(refused).r;
  const auto family = static_cast<Family>(r.family);
  const Timeline& timeline = judge.timeline();
  for (const auto& exec : timeline.executables) {
    if (exec.made_seq <= r.h.seq || exec.launches.empty() || exec.versions.empty()) continue;
    if (timeline.call(exec.versions.front().call).tid != judge.call(refused).tid) continue;
    if (family == Family::graph_instantiate) {
      if (exec.versions.front().graph == r.object2) return true;
      continue;
    }
    // Nobody has launched the old one meanwhile.
    for (const auto& old : timeline.executables)
      if (old.handle == r.object && old.made_seq < r.h.seq && old.destroyed_seq > r.h.seq)
        return launches_between(timeline, old, r.h.seq, exec.made_seq) == 0;
  }
  if (family != Family::graph_exec_update && family != Family::graph_upload) return false;
  // Nothing was launched with it: what it holds is of no consequence.
  for (const auto& old : timeline.executables)
    if (old.handle == r.object && old.made_seq < r.h.seq && old.destroyed_seq > r.h.seq)
      return launches_between(timeline, old, r.h.seq, kNever) == 0;
  return false;
}

// The device has failed: every call fails with it.
bool is_device_fault(int32_t result) {
  return result >= 700 && result < 800;
}

// A null handle, after a capture of that thread had died: there is no graph, and no other cause.
bool has_no_graph(const Judge& judge, size_t refused) {
  const auto& r = judge.call(refused).r;
  const auto family = static_cast<Family>(r.family);
  const bool is_null =
      family == Family::graph_launch || family == Family::graph_upload ? r.object == 0 : r.object2 == 0;
  const auto& captures = judge.timeline().captures;
  return is_null && std::any_of(captures.begin(), captures.end(), [&](const Capture& capture) {
           return capture.state == CaptureState::failed && capture.end_seq < r.h.seq &&
                  capture.tid == judge.call(refused).tid;
         });
}

void report_refusal(Judge& judge, const GraphNodes& nodes, size_t call) {
  const auto& r = judge.call(call).r;
  const auto family = static_cast<Family>(r.family);
  const Blamed blamed = find_blamed(nodes, r);
  const bool handled = is_handled(judge, call);
  Finding finding;
  finding.rule = "graph-refused";
  finding.phase = reports::Phase::replay;
  finding.call = call;
  const bool no_graph = has_no_graph(judge, call);
  finding.severity = handled || no_graph ? Severity::note : Severity::error;
  if (no_graph) finding.details["no graph"] = "yes";
  finding.details["refused"] = std::string(family == Family::graph_instantiate   ? "instantiation"
                                           : family == Family::graph_exec_update ? "update"
                                           : family == Family::graph_upload      ? "upload"
                                                                                 : "launch");
  finding.message = std::string("CUDA refused to ") + verb(family);
  if (blamed.node) {
    finding.details["node"] = blamed.what;
    finding.details["named by"] = blamed.by_cuda ? "CUDA" : "what CUDA is known to refuse";
    finding.message += ": " + blamed.what;
    if (blamed.candidates > 1)
      finding.message += " (one of " + std::to_string(blamed.candidates) + " that it does not take)";
    const auto maker = blamed.node->maker;
    const bool placed = maker && judge.place(*maker).known;
    if (placed && family == Family::graph_instantiate) {
      const auto& made = judge.call(*maker).r;
      finding.elsewhere = Elsewhere{made.stack, made.python_stack,
                                    result_text(r.result, judge.timeline().name(judge.call(call)))};
      finding.role = reports::StackRole::captured;
      finding.more_stacks.emplace_back(reports::StackRole::call, call);
    } else if (placed) {
      finding.more_stacks.emplace_back(reports::StackRole::captured, *maker);
    }
  }
  if (const std::string reason = update_reason(r.bytes);
      family == Family::graph_exec_update && !reason.empty()) {
    finding.details["reason"] = reason;
    finding.message += ": " + reason;
  }
  if (no_graph) {
    finding.message += ": its capture had died, and left none";
  } else if (handled) {
    finding.message += "; the program went on with another executable graph";
  } else if (family == Family::graph_exec_update && runs_on(judge, call)) {
    finding.details["launched again"] = "yes";
    finding.message += "; the old one was launched again";
  }
  judge.report(finding);
}

}  // namespace

void judge_graph_refusals(Judge& judge, const GraphNodes& nodes, const std::set<size_t>& explained) {
  for (size_t i = 0; i < judge.process().trace.calls.size(); ++i) {
    const auto& r = judge.call(i).r;
    const auto family = static_cast<Family>(r.family);
    if (family != Family::graph_instantiate && family != Family::graph_exec_update &&
        family != Family::graph_upload && family != Family::graph_launch)
      continue;
    // What a capture refuses kills the capture, and other rules speak of it.
    if ((r.flags & trace::kNested) || r.result == 0 || r.result == trace::kPending ||
        r.result == kCaptureInvalidated || is_refusal(r.result) || is_device_fault(r.result) ||
        explained.contains(i))
      continue;
    report_refusal(judge, nodes, i);
  }
}

}  // namespace capgate::analysis
