#include "detector/analysis/align/graph_findings.h"

namespace capgate::analysis {

Finding graph_finding(Judge& judge, const std::string& rule, const Comparison& of, size_t call,
                      const Verification* verification) {
  Finding finding;
  finding.rule = rule;
  finding.severity = reports::Severity::warning;
  finding.phase = of.capture == kNone ? reports::Phase::step : reports::Phase::replay;
  finding.call = call;
  finding.capture = of.capture;
  const auto& timeline = judge.timeline();
  if (!judge.place(call).known) {
    if (verification) {
      finding.elsewhere = Elsewhere{verification->stack, verification->python_stack, ""};
    } else if (of.capture != kNone) {
      const auto& begin = timeline.call(timeline.captures[static_cast<size_t>(of.capture)].begin).r;
      finding.elsewhere = Elsewhere{begin.stack, begin.python_stack, ""};
    }
  }
  if (of.capture != kNone)
    finding.more_stacks.emplace_back(reports::StackRole::captured,
                                     timeline.captures[static_cast<size_t>(of.capture)].begin);
  return finding;
}

}  // namespace capgate::analysis
