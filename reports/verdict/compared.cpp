#include "reports/verdict/compared.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/counted.h"
#include "reports/verdict/evidence.h"

namespace capgate::reports {
namespace {

constexpr uint64_t kFewestSteps = 3;
constexpr std::array<std::string_view, 3> kAnsweredByVerifying{"stale-argument", "missing-work",
                                                               "topology-change"};

constexpr const char* kVerify =
    "call verify_replay in the audited program{} (docs/verify.md), then: capgate audit -- PROGRAM";

std::string verify_for(const std::string& graph) {
  return fmt::format(fmt::runtime(kVerify), graph);
}

bool holds(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// 95 % of the nodes, in three steps.
bool is_enough(const ComparedReplay& compared) {
  return compared.steps >= kFewestSteps && compared.matched * 20 >= compared.nodes * 19;
}

std::string bucket_text(const Capture& capture) {
  return capture.bucket ? fmt::format("bucket \"{}\": ", *capture.bucket) : "";
}

// Why the graph of this capture is neither compared nor verified; empty: it is.
std::string why_not(const ReplayCoverage& replay, const Capture& capture) {
  for (const auto& verified : replay.verified)
    if (verified.result == ReplayResult::equal && holds(verified.captures, capture.id)) return "";
  for (const auto& compared : replay.compared)
    if (holds(compared.captures, capture.id))
      return is_enough(compared) ? ""
                                 : fmt::format("it was compared with {}, and it takes {}",
                                               counted(compared.steps, "eager step"), kFewestSteps);
  for (const auto& other : replay.not_compared)
    if (holds(other.captures, capture.id)) return other.text;
  return "no eager step was seen that it replaces";
}

}  // namespace

std::string what_was_compared(const Report& report) {
  if (!report.coverage.replay) return "";
  const ReplayCoverage& replay = *report.coverage.replay;
  std::string out;
  if (!replay.compared.empty()) {
    uint64_t steps = UINT64_MAX, nodes = 0, matched = 0, values = 0, unvaried = 0;
    for (const auto& compared : replay.compared) {
      steps = std::min(steps, compared.steps);
      nodes += compared.nodes;
      matched += compared.matched;
      values += compared.values;
      unvaried += compared.unvaried;
    }
    out = fmt::format("{} with {}{}, {} of {}", counted(replay.compared.size(), "graph"),
                      counted(steps, "eager step"), replay.compared.size() > 1 ? " each" : "",
                      grouped(matched), counted(nodes, "node"));
    if (values > 0)
      out += fmt::format("; {} of {} never varied", grouped(unvaried), counted(values, "host value"));
  }
  if (!replay.not_compared.empty())
    out += fmt::format("{}not compared: {}: {}", out.empty() ? "" : "; ",
                       counted(replay.not_compared.size(), "graph"), replay.not_compared.front().text);
  return out;
}

bool all_is_compared(const Report& report) {
  return report.coverage.replay && !report.coverage.replay->compared.empty() &&
         !missing_comparison(report, {});
}

bool lacks_comparison(const Report& report) {
  return has_graph(report) && !all_is_compared(report);
}

std::optional<Reason> missing_comparison(const Report& report, const std::vector<std::string>& buckets) {
  const std::string remedy =
      "mark the eager step (--region, or capgate_region_begin and its end) and let it run three times before "
      "the capture, or " +
      verify_for(" for the graph");
  if (!report.coverage.replay) return Reason{"no graph was compared with an eager step", remedy};
  std::set<std::string> seen;
  for (const auto& capture : report.captures) {
    if (capture.replays == 0) continue;
    if (!buckets.empty() && (!capture.bucket || !holds(buckets, *capture.bucket))) continue;
    if (capture.bucket) seen.insert(*capture.bucket);
    if (const std::string why = why_not(*report.coverage.replay, capture); !why.empty())
      return Reason{
          fmt::format("{}the graph of capture {} is not compared: {}", bucket_text(capture), capture.id, why),
          remedy};
    if (!capture.bucket) seen.insert("");
  }
  for (const auto& bucket : buckets)
    if (!seen.contains(bucket))
      return Reason{fmt::format("bucket \"{}\": no graph of it was launched", bucket),
                    "launch a graph of this bucket, then: capgate audit -- PROGRAM"};
  if (seen.empty()) return Reason{"no graph was compared with an eager step", remedy};
  return std::nullopt;
}

std::vector<Reason> unanswered_differences(const Report& report) {
  std::vector<Reason> out;
  std::set<std::string> told;
  for (const auto& violation : report.violations) {
    const bool asked = std::find(kAnsweredByVerifying.begin(), kAnsweredByVerifying.end(), violation.rule) !=
                       kAnsweredByVerifying.end();
    if (!asked || violation.suppressed || violation.severity != Severity::warning) continue;
    const auto bucket = violation.details.find("bucket");
    std::string graph = " once it captures the step";
    if (bucket != violation.details.end())
      graph = fmt::format(" for bucket \"{}\"", bucket->second);
    else if (violation.capture)
      graph = " for the graph of capture " + *violation.capture;
    const std::string text =
        fmt::format("{}: nothing shows that replays are right all the same{}", violation.rule,
                    bucket != violation.details.end() ? fmt::format(" (bucket \"{}\")", bucket->second) : "");
    if (told.insert(violation.rule + graph).second) out.push_back({text, verify_for(graph)});
  }
  return out;
}

}  // namespace capgate::reports
