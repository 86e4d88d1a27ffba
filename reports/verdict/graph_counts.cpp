#include "reports/verdict/graph_counts.h"

#include <algorithm>
#include <optional>

#include "base/counted.h"
#include "reports/verdict/evidence.h"

namespace capgate::reports {
namespace {

// Of the graphs that were launched, when each launch was of one that was followed.
std::optional<uint64_t> launched_executables(const Report& report) {
  const auto& replay = report.coverage.replay;
  if (!replay || replay->graphs == 0 || replay->launches != report.coverage.replays) return std::nullopt;
  return replay->graphs;
}

bool launched_a_built_graph(const Report& report) {
  return std::any_of(report.captures.begin(), report.captures.end(),
                     [](const Capture& graph) { return graph.mode == kBuiltMode && graph.replays > 0; });
}

}  // namespace

bool each_capture_is_a_graph(const Report& report) {
  if (report.coverage.captures_completed == 0) return true;
  // A graph that nobody launched may be a part of another: what was made of one capture alone is known.
  if (report.coverage.replays == 0) return report.coverage.captures_completed == 1;
  if (std::any_of(report.captures.begin(), report.captures.end(),
                  [](const Capture& graph) { return graph.nested.value_or(false); }))
    return false;
  const auto launched = launched_executables(report);
  return !launched || (*launched == report.coverage.captures_completed && !launched_a_built_graph(report));
}

std::string graphs_of(const Report& report) {
  const uint64_t captures = report.coverage.captures_completed;
  if (captures > 0)
    return each_capture_is_a_graph(report) ? counted(captures, "graph") + " captured"
                                           : counted(captures, "capture") + " completed";
  const auto launched = launched_executables(report);
  return (launched ? counted(*launched, "graph") : std::string("graphs")) + " built node by node";
}

std::string executables_of(const Report& report) {
  const auto launched = launched_executables(report);
  return launched ? counted(*launched, "executable graph") : "graphs";
}

}  // namespace capgate::reports
