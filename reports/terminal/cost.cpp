#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/catalogue/situations.h"
#include "reports/model/cuda_answer.h"
#include "reports/terminal/parts.h"
#include "reports/verdict/failure.h"

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
  const double count = violation.per_step->count;
  return fmt::format("{:.3g} per step{}", count, count == std::floor(count) ? "" : " on average");
}

namespace {

// The words of the catalogue for what no step shows; empty where it has none.
std::string cost_by_catalogue(const Violation& violation) {
  const Rule* rule = find_rule(violation.rule);
  const std::string_view own = situation_named(violation).cost;
  std::string text(own.empty() && rule ? rule->cost : own);
  constexpr std::string_view kTimes = "{times}";
  if (const size_t at = text.find(kTimes); at != std::string::npos)
    text.replace(at, kTimes.size(), violation.count == 1 ? "once" : counted(violation.count, "time"));
  return text;
}

// Of one that several captures show, of which this is one.
std::string cost_in_captures(const Capture& capture, const Violation& violation) {
  const auto launches = number_in(violation, "launches");
  const bool failed = capture.result.starts_with("failed");
  if (failed && launches.value_or(0) == 0) return "the whole step: the capture left no graph to replay";
  if (launches == uint64_t{0}) return "none yet: the graphs were never launched";
  if (const std::string known = cost_by_catalogue(violation); !failed && !known.empty()) return known;
  const std::string wrong =
      launches ? grouped(*launches) + " launches have this fault" : "each launch has this fault";
  return (failed ? "the whole step where the capture died; elsewhere " : "no time: ") + wrong;
}

// What has a cost that no time and no number of replays shows; empty for others.
std::string cost_without_time(const Report& report, const Violation& violation) {
  const auto detail = [&](const char* key) {
    const auto at = violation.details.find(key);
    return at == violation.details.end() ? std::string() : at->second;
  };
  // Memory that went, and what is there now.
  if (const std::string now = detail("now"); !now.empty()) {
    if (now == "the same again") return "none in this run: the memory was back before the launch";
    const auto launches = number_in(violation, "launches");
    if (!launches) return "none yet: the graph was not launched since";
    if (number_in(violation, "captures")) return "no time: each launch since then works on what is there now";
    const Capture* capture = capture_of(report, violation);
    if (capture && capture->replays == *launches)
      return "no time: " +
             (*launches == 1 ? "the one launch" : "all " + counted(*launches, "launch", "launches")) +
             " of the graph came after it";
    return capture && capture->replays >= *launches
               ? fmt::format("no time: {} of the {} of the graph ran with that node after it",
                             grouped(*launches), counted(capture->replays, "launch", "launches"))
               : "no time: " + counted(*launches, "launch", "launches") + " ran with that node after it";
  }
  if (detail("at each launch") == "alive")
    return "not measured: launches are not timed; the memory was there at each launch";
  if (!detail("launched again").empty()) return "no time: later launches ran the graph without the update";
  if (detail("refused") == "update") return "the update: CUDA refused it";
  if (!detail("refused").empty()) return "the whole graph: CUDA does not run it";
  if (const auto launches = number_in(violation, "refused launches"))
    return counted(*launches, "launch", "launches") + ", which CUDA refused";
  if (!detail("graphs").empty()) return "memory: it grows with each graph";
  return "";
}

std::string own_cost(const Report& report, const Violation& violation) {
  if (violation.per_step) {
    const PerStep& of = *violation.per_step;
    std::string out = fmt::format("{} ({}{})", per_step(violation), counted(of.steps, "step"), left_out(of));
    if (of.blocked_us && !was_refused(violation))
      out += ", host blocked " + (*of.blocked_us < 1 ? "under 1 us" : duration(*of.blocked_us)) + " per step";
    return out;
  }
  if (!violation.seen_by(Evidence::runtime)) return "not measured: no run is in this report";
  if (const std::string known = cost_without_time(report, violation); !known.empty()) return known;
  if (const Capture* capture = capture_of(report, violation)) {
    if (number_in(violation, "captures")) return cost_in_captures(*capture, violation);
    if (const auto ended = violation.details.find("ended");
        ended != violation.details.end() && ended->second == "no")
      return "the whole step: the capture was never ended";
    if (violation.details.contains("exception"))
      return "the whole step: the graph lacks what comes after the exception";
    if (capture->result.starts_with("failed")) return "the whole step: the capture left no graph to replay";
    if (capture->replays == 0) return "none yet: the graph was never launched";
    if (violation.severity != Severity::error) return "not measured: launches of the graph are not timed";
    if (const std::string known = cost_by_catalogue(violation); !known.empty()) return known;
    return "no time: " + wrong_launches(violation, capture->replays);
  }
  if (const std::string known = cost_by_catalogue(violation); !known.empty()) return known;
  if (violation.details.contains("graph"))
    return violation.severity == Severity::error ? "no time: each launch of the graph has this fault"
                                                 : "not measured: launches of the graph are not timed";
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
