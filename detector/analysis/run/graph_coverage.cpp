#include "detector/analysis/graph_coverage.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/counted.h"
#include "detector/trace/node_kind.h"

namespace capgate::analysis {
namespace {

bool is_known(const ExecEdit& edit, const GraphWindows& windows) {
  switch (edit.what) {
    case ExecEdit::What::parameters:
      return edit.node != nullptr;
    case ExecEdit::What::child:
      return windows.at(edit.child, edit.as_of).first != 0;
    case ExecEdit::What::off:
    case ExecEdit::What::on:
      break;
  }
  return true;
}

// Empty nodes and event nodes only order others; a child graph and a conditional node are
// what their own nodes are.
bool is_work(uint32_t kind) {
  return kind != trace::kChildNode && kind != trace::kEmptyNode && kind != trace::kEventWaitNode &&
         kind != trace::kEventRecordNode && kind != trace::kConditionalNode;
}

void add(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

}  // namespace

bool holds_work(const GraphNodes& nodes, const ExecVersion& version) {
  const auto held = nodes.in(version);
  return std::any_of(held.begin(), held.end(), [](const auto& in) { return is_work(in.node->kind); });
}

bool judged_built_graphs(const std::vector<Timeline>& timelines) {
  for (const auto& timeline : timelines) {
    const GraphNodes nodes(timeline);
    for (const auto& exec : timeline.executables)
      for (const auto& version : exec.versions) {
        if (exec.launches.empty() || !version.captures.empty()) continue;
        if (holds_work(nodes, version)) return true;
      }
  }
  return false;
}

void not_compared(const std::vector<Timeline>& timelines, reports::Report& report) {
  size_t updatable = 0, unknown = 0, edits = 0;
  for (const auto& timeline : timelines) {
    // A version 1 trace says nothing of what is built or changed node by node.
    const auto& trace = *timeline.trace;
    std::set<uint64_t> nodes;
    for (const auto& node : trace.graph_nodes)
      if (node.r.param_layout & trace::kDeviceUpdatable) nodes.insert(node.r.node);
    updatable += nodes.size();
    if (trace.graph_contents.empty() && trace.exec_nodes.empty()) continue;
    const GraphWindows windows(trace);
    for (const auto& exec : timeline.executables) {
      if (exec.launches.empty()) continue;
      if (exec.versions.empty() ||
          windows.at(exec.versions.back().graph, exec.versions.back().as_of).first == 0)
        ++unknown;
      for (const auto& edit : exec.edits)
        if (!is_known(edit, windows)) ++edits;
    }
  }
  auto& list = report.coverage.not_checked;
  if (updatable > 0)
    add(list, counted(updatable, "kernel node") + " that the device may change: not compared");
  if (unknown > 0)
    add(list, "what " + counted(unknown, "launched executable graph") + " holds: the trace does not have it");
  if (edits > 0)
    add(list, counted(edits, "change") +
                  " of an executable graph's nodes that the trace does not have: not compared");
}

}  // namespace capgate::analysis
