// Graphs that no capture made, and executables that were given new parameters: host-pointer and host-node for
// the nodes that a launch ran.
#include <algorithm>

#include "detector/analysis/copy_operands.h"
#include "detector/analysis/host_lifetime.h"
#include "detector/analysis/judge.h"
#include "detector/analysis/launched_nodes.h"
#include "detector/trace/node_kind.h"

namespace capgate::analysis {
namespace {

using reports::Severity;

Finding finding_of(const char* rule, const LaunchedNode& launched, size_t call) {
  Finding finding;
  finding.rule = rule;
  finding.phase = reports::Phase::replay;
  finding.call = call;
  finding.severity = Severity::error;
  finding.details["graph"] = launched.edited ? "changed node by node" : "built node by node";
  return finding;
}

bool is_alone(const std::vector<LaunchedNode>& all, const LaunchedNode& one, uint64_t address) {
  return std::none_of(all.begin(), all.end(), [&](const LaunchedNode& other) {
    return other.in.node != one.in.node && other.in.node->node != one.in.node->node &&
           other.exec == one.exec && other.in.node->kind == trace::kCopyNode &&
           (other.in.node->src == address || other.in.node->dst == address);
  });
}

void copy_node(Judge& judge, const std::vector<LaunchedNode>& all, const LaunchedNode& launched,
               size_t call) {
  const auto& node = *launched.in.node;
  const Timeline& timeline = judge.timeline();
  if (node.bytes == 0) return;
  const bool reads = is_pageable_operand(timeline, node.src, node.src_memory, node.src_place);
  const bool writes = is_pageable_operand(timeline, node.dst, node.dst_memory, node.dst_place);
  // Both ends on the host, or neither: what the node is cannot be told for sure.
  if (reads == writes) return;
  const auto place = static_cast<trace::HostPlace>(reads ? node.src_place : node.dst_place);
  Finding finding = finding_of("host-pointer", launched, call);
  finding.bytes = node.bytes;
  finding.details["host memory"] = host_memory(place);
  finding.details["direction"] = reads ? "host to device" : "device to host";
  finding.message = "a copy node of a graph that is " + finding.details["graph"] +
                    (reads ? " reads " : " writes ") + std::string(kSizeMark) +
                    (reads ? " from " : " into ") + host_memory(place) +
                    ": each launch until the node is changed uses that address";
  finding.size = node.bytes;
  const Lifetime lifetime = lifetime_at_launches(judge, launched, call, place);
  if (lifetime == Lifetime::ended) {
    finding.message += "; the function that it was a variable of had returned at a launch";
  } else {
    const bool alive = lifetime == Lifetime::alive && is_alone(all, launched, reads ? node.src : node.dst);
    finding.severity = Severity::warning;
    finding.details["at each launch"] = alive ? "alive" : "not known";
    finding.message +=
        alive ? "; it was alive at each launch" : "; it is not shown to be there at each launch";
  }
  judge.report(finding);
}

void host_node(Judge& judge, const LaunchedNode& launched, size_t call) {
  const bool library = judge.place(call).known && !judge.place(call).user_called;
  Finding finding = finding_of("host-node", launched, call);
  finding.severity = library ? Severity::note : Severity::warning;
  finding.whole_process = library;
  finding.message = "puts a host function into a graph that is " + finding.details["graph"] +
                    ": every launch stops the stream for the host";
  judge.report(finding);
}

}  // namespace

void judge_built_graphs(Judge& judge, const GraphNodes& nodes) {
  const auto all = launched_nodes(judge.timeline(), nodes);
  for (const auto& launched : all) {
    const uint32_t kind = launched.in.node->kind;
    if ((kind != trace::kCopyNode && kind != trace::kHostNode) || is_captured(judge.timeline(), launched.in))
      continue;
    // Without the call that made it, the one that made the executable is the nearest known place.
    size_t call = 0;
    if (launched.in.maker)
      call = *launched.in.maker;
    else if (!launched.exec->versions.empty() && launched.exec->made_seq != 0)
      call = launched.exec->versions.front().call;
    else
      continue;
    if (kind == trace::kCopyNode)
      copy_node(judge, all, launched, call);
    else
      host_node(judge, launched, call);
  }
}

}  // namespace capgate::analysis
