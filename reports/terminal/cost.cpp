#include <fmt/format.h>

#include <algorithm>

#include "reports/model/verdict.h"
#include "reports/terminal/parts.h"

namespace capgate::reports::terminal {
namespace {

std::string left_out(const PerStep& per_step) {
  std::string out;
  for (const auto& left : per_step.left_out)
    out += (out.empty() ? "; left out: " : ", ") + grouped(left.steps) + " " + clean(left.why);
  return out;
}

}  // namespace

std::string per_step(const Violation& violation) {
  if (!violation.per_step) return "";
  return fmt::format("{:.3g} per step", violation.per_step->count);
}

namespace {

std::string own_cost(const Report& report, const Violation& violation) {
  if (violation.per_step) {
    const PerStep& of = *violation.per_step;
    std::string out = fmt::format("{} ({}{})", per_step(violation), counted(of.steps, "step"), left_out(of));
    if (of.blocked_us && !was_refused(violation))
      out += ", host blocked " + (*of.blocked_us < 1 ? "under 1 us" : duration(*of.blocked_us)) + " per step";
    return out;
  }
  const bool in_run =
      std::find(violation.evidence.begin(), violation.evidence.end(), "runtime") != violation.evidence.end();
  if (!in_run) return "not measured: no run is in this report";
  if (const Capture* capture = capture_of(report, violation)) {
    if (capture->result.starts_with("failed"))
      return "the whole step: there is no graph, so nothing was replayed";
    if (capture->replays == 0) return "none yet: the graph was never launched";
    return fmt::format(
        "no time: it is wrong in {} of the graph",
        capture->replays == 1 ? "the one launch" : "all " + grouped(capture->replays) + " launches");
  }
  if (violation.phase == Phase::warmup) return "none after the first step, which warms up";
  return "not measured: no step was seen to repeat";
}

}  // namespace

std::string cost(const Report& report, const Causes& causes, const Violation& violation) {
  const std::string own = own_cost(report, violation);
  const double alone = violation.per_step ? violation.per_step->blocked_us.value_or(0) : 0;
  const double all = causes.blocked_us_per_step(violation);
  return all > alone ? own + "; " + duration(all) + " with its symptoms" : own;
}

}  // namespace capgate::reports::terminal
