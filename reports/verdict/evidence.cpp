#include "reports/verdict/evidence.h"

#include <algorithm>

namespace capgate::reports {

bool linted(const Report& report) {
  return report.coverage.files_parsed.has_value();
}

bool ran(const Report& report) {
  const Coverage& coverage = report.coverage;
  return coverage.kind == CoverageKind::capture || coverage.kind == CoverageKind::eager ||
         !coverage.cupti.empty() || !coverage.processes.empty();
}

bool has_graph(const Report& report) {
  return report.coverage.captures_completed > 0 ||
         std::any_of(report.captures.begin(), report.captures.end(), [](const Capture& graph) {
           return graph.mode == kBuiltMode && graph.result == "completed" && graph.replays > 0;
         });
}

bool launched_unseen_graphs(const Report& report) {
  const Coverage& coverage = report.coverage;
  return coverage.replays > 0 && coverage.captures_empty == 0 && coverage.captures_failed == 0 &&
         !has_graph(report);
}

bool is_eager_alone(const Report& report) {
  // Whatever kind the report calls itself: only a graph, or a lint, is another evidence.
  return !has_graph(report) && report.coverage.kind != CoverageKind::source;
}

}  // namespace capgate::reports
