#include "reports/ratchet/metrics.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace capgate::reports {
namespace {

constexpr std::array<std::pair<std::string_view, Held>, 8> kHeld{{
    {"allocs_per_step", Held::more_is_worse},
    {"buckets_captured", Held::less_is_worse},
    {"captures_failed", Held::more_is_worse},
    {"captures_open", Held::more_is_worse},
    {"errors", Held::more_is_worse},
    {"pageable_bytes_per_step", Held::more_is_worse},
    {"waits_per_step", Held::more_is_worse},
    {"warnings", Held::more_is_worse},
}};

void add_captures(const Report& report, std::map<std::string, double>& values) {
  const Coverage& coverage = report.coverage;
  values["captures_completed"] = static_cast<double>(coverage.captures_completed);
  values["captures_empty"] = static_cast<double>(coverage.captures_empty);
  values["captures_failed"] = static_cast<double>(coverage.captures_failed);
  values["captures_open"] = static_cast<double>(coverage.captures_open);
  values["replays"] = static_cast<double>(coverage.replays);
  std::set<std::string_view> buckets;
  size_t nodes = 0;
  for (const Capture& capture : report.captures) {
    if (capture.result != "completed") continue;
    nodes += capture.nodes.size();
    if (capture.bucket) buckets.insert(*capture.bucket);
  }
  values["graph_nodes"] = static_cast<double>(nodes);
  values["buckets_captured"] = static_cast<double>(buckets.size());
}

}  // namespace

Held held(std::string_view metric) {
  const auto* found =
      std::find_if(kHeld.begin(), kHeld.end(), [&](const auto& one) { return one.first == metric; });
  return found == kHeld.end() ? Held::no : found->second;
}

Metrics metrics_of(const Report& report) {
  Metrics out;
  out.program = report.subject.program;
  auto& values = out.values;
  values = report.metrics;
  for (const auto& [rule, count] : report.summary.by_rule)
    values["findings." + rule] = static_cast<double>(count);
  values["errors"] = static_cast<double>(report.summary.errors);
  values["warnings"] = static_cast<double>(report.summary.warnings);
  values["notes"] = static_cast<double>(report.summary.notes);
  values["suppressed"] = static_cast<double>(report.summary.suppressed);
  values["symptoms"] = static_cast<double>(report.summary.symptoms);
  values["reasons"] = static_cast<double>(report.reasons.size());
  // Of sources alone there is no capture to count.
  if (!report.coverage.processes.empty()) add_captures(report, values);
  if (report.coverage.files_parsed)
    values["files_parsed"] = static_cast<double>(*report.coverage.files_parsed);
  if (report.coverage.files_failed)
    values["files_failed"] = static_cast<double>(*report.coverage.files_failed);
  return out;
}

}  // namespace capgate::reports
