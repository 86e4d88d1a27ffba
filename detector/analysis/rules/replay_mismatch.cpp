// replay-mismatch: a verification of the program's own found that replays give other results than eager
// steps.
#include <fmt/format.h>

#include <cmath>

#include "base/counted.h"
#include "detector/analysis/judge.h"
#include "detector/analysis/verifications.h"

namespace capgate::analysis {
namespace {

std::string values_text(const ReplayDifference& at) {
  std::string out = fmt::format("element {} is {}, eagerly {} ({} of {} differ, ", at.index, at.replay,
                                at.eager, grouped(at.elements), counted(at.of, "element"));
  out +=
      std::isfinite(at.largest) ? fmt::format("by {:.3g} at most", at.largest) : "some by no finite number";
  return out + fmt::format("; {:.3g} is allowed)", at.allowed);
}

// What else differs, each once: "", "; cache differs, too", "; cache and position differ, too", "; 4 more
// differ".
std::string more_text(const Verification& of) {
  std::set<std::string> names;
  for (const auto& difference : of.differences) names.insert(difference.what);
  names.erase(of.differences.front().what);
  if (names.empty()) return "";
  if (names.size() == 1) return "; " + *names.begin() + " differs, too";
  if (names.size() == 2) return "; " + *names.begin() + " and " + *names.rbegin() + " differ, too";
  return "; " + grouped(names.size()) + " more differ";
}

std::string graph_text(const Judge& judge, int32_t capture) {
  return capture == kNone ? "a graph that is built node by node"
                          : judge.capture_name(judge.timeline().captures[static_cast<size_t>(capture)]);
}

int32_t capture_of(const ReplayEvidence& evidence) {
  if (evidence.exec->versions.empty()) return kNone;
  const auto& captures = evidence.exec->versions.back().captures;
  return captures.empty() ? kNone : captures.back();
}

void report_one(Judge& judge, const ReplayEvidence& evidence) {
  const Verification& of = *evidence.of;
  const ReplayDifference& first = of.differences.front();
  Finding finding;
  finding.rule = "replay-mismatch";
  finding.phase = reports::Phase::replay;
  finding.call = *evidence.launch;
  finding.elsewhere = Elsewhere{of.stack, of.python_stack, ""};
  finding.capture = capture_of(evidence);
  if (finding.capture != kNone)
    finding.more_stacks.emplace_back(reports::StackRole::captured,
                                     judge.timeline().captures[static_cast<size_t>(finding.capture)].begin);
  const std::string after = first.refilled ? ", after free memory was filled" : "";
  finding.message = fmt::format(
      "{} gives other results than the eager step: {} differs first, in step {} of input "
      "set {}{}: {}{}",
      graph_text(judge, finding.capture), first.what, first.step + 1, first.set, after, values_text(first),
      more_text(of));
  auto& details = finding.details;
  details["verification"] = of.name;
  details["differs"] = first.what;
  details["what"] = first.state ? "state" : "output";
  details["step"] = std::to_string(first.step + 1);
  details["input set"] = std::to_string(first.set);
  details["from"] = first.step > 0 ? "a later step" : first.set > 0 ? "another input set" : "the start";
  details["memory"] = first.refilled ? "filled" : "as it was";
  if (first.kept) details["kept filling"] = "yes";
  if (finding.capture == kNone) details["graph"] = "built node by node";
  judge.report(finding);
}

}  // namespace

void judge_replay_mismatches(Judge& judge, const std::vector<ReplayEvidence>& evidence) {
  for (const auto& one : evidence)
    if (one.differs && one.launch) report_one(judge, one);
}

}  // namespace capgate::analysis
