#include "detector/analysis/coverage.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/counted.h"
#include "base/region_pattern.h"
#include "detector/analysis/graph_coverage.h"
#include "detector/analysis/notices.h"
#include "detector/analysis/results.h"
#include "detector/analysis/run/attachment.h"
#include "detector/analysis/run/run_subject.h"

namespace capgate::analysis {
namespace {

using reports::Report;

void captures(const seal::SealedTrace& trace, const std::vector<Timeline>& timelines, Report& report) {
  auto& coverage = report.coverage;
  std::set<std::string> done;
  for (const auto& timeline : timelines) {
    coverage.replays += timeline.launches.size();
    for (const auto& capture : timeline.captures) {
      switch (capture.state) {
        case CaptureState::completed:
          ++coverage.captures_completed;
          if (!capture.bucket.empty()) done.insert(capture.bucket);
          break;
        case CaptureState::empty:
          ++coverage.captures_empty;
          break;
        case CaptureState::failed:
          ++coverage.captures_failed;
          break;
        case CaptureState::open:
          ++coverage.captures_open;
          if (!timeline.detached)
            report.reasons.push_back(
                {capture_name(timeline, capture) + " was still open when the trace ended",
                 "end the capture (cudaStreamEndCapture) before the program ends, then: capgate audit -- "
                 "PROGRAM"});
          break;
      }
    }
  }
  for (const auto& bucket : trace.expected.buckets)
    if (!done.contains(bucket))
      report.reasons.push_back({"the expected bucket \"" + bucket + "\" was not captured",
                                "make the run capture it inside capgate_bucket(\"" + bucket +
                                    "\"): capgate audit --expect-bucket '" + bucket + "' -- PROGRAM"});
  report.subject.buckets.assign(done.begin(), done.end());
}

// Nothing was captured because the framework that captures by itself chose not to.
void skipped(const std::vector<Timeline>& timelines, Report& report) {
  const Skipped skipped = skipped_captures(timelines);
  if (skipped.times == 0 || report.coverage.captures_completed > 0) return;
  report.reasons.push_back(
      {std::string("no capture completed") + (report.coverage.captures_empty > 0 ? " with work in it" : "") +
           ": torch.compile logged " + (skipped.times == 1 ? "once" : counted(skipped.times, "time")) +
           " that it goes without CUDA graphs" + (skipped.reason.empty() ? "" : " (" + skipped.reason + ")"),
       "change what keeps it from capturing, then: capgate audit -- PROGRAM"});
}

void regions(const std::vector<Timeline>& timelines, const std::vector<std::string>& patterns,
             Report& report) {
  std::map<std::pair<std::string, reports::RegionSource>, uint64_t> seen;
  for (const auto& timeline : timelines)
    for (const auto& region : timeline.regions)
      ++seen[{region.name,
              region.capgate_h ? reports::RegionSource::capgate_h : reports::RegionSource::nvtx}];
  for (const auto& [key, count] : seen) report.coverage.regions.push_back({key.first, key.second, count});
  for (const auto& pattern : patterns) {
    const bool met = std::any_of(seen.begin(), seen.end(), [&](const auto& region) {
      return glob_match(region_pattern(pattern).name, region.first.first);
    });
    if (!met) report.coverage.not_checked.push_back("no range matched --region '" + pattern + "'");
  }
}

// A framework that refuses a call itself, before CUDA sees it, ends the program in the middle of a capture.
void refused_by_framework(const std::vector<Timeline>& timelines, Report& report) {
  if (!report.run || report.run->stopped_by_user ||
      (report.run->exit_code.value_or(0) == 0 && !report.run->signal))
    return;
  for (const auto& timeline : timelines) {
    if (timeline.captures.empty()) continue;
    const Capture& last = timeline.captures.back();
    const bool after =
        !timeline.launches.empty() && timeline.call(timeline.launches.back().call).r.h.seq > last.begin_seq;
    if (last.state == CaptureState::failed || last.launches > 0 || after) continue;
    report.coverage.not_checked.push_back(
        "what stopped the program in " + capture_name(timeline, last) +
        ": it ended with an error there and never replayed it, and CUDA refused nothing; a framework that "
        "refuses a call "
        "itself (PyTorch does for copies from pageable memory) names it in the program's own output");
  }
}

// After it every call fails, and a program that looks at results ends: the first one that reports it is the
// clue.
void broke_the_device(const std::vector<Timeline>& timelines, Report& report) {
  // An error is the likelier clue.
  if (std::any_of(report.violations.begin(), report.violations.end(),
                  [](const auto& violation) { return violation.severity == reports::Severity::error; }))
    return;
  static constexpr std::array<int32_t, 9> kBroken{700, 702, 710, 714, 715, 716, 717, 718, 719};
  for (const auto& timeline : timelines)
    for (size_t i = 0; i < timeline.trace->calls.size(); ++i) {
      const Call& call = timeline.call(i);
      if ((call.r.flags & trace::kNested) ||
          std::find(kBroken.begin(), kBroken.end(), call.r.result) == kBroken.end())
        continue;
      report.coverage.not_checked.push_back("what broke the device: " + std::string(timeline.name(call)) +
                                            " gave " + result_text(call.r.result, timeline.name(call)) +
                                            ", the first call to report it");
      break;
    }
}

}  // namespace

void describe_run(const seal::SealedTrace& trace, const std::vector<Timeline>& timelines,
                  const std::vector<std::string>& patterns, Report& report) {
  report.reasons = trace.reasons;
  describe_attachment(trace, report);
  describe_unseen_processes(trace, report);
  describe_environment(trace, report);
  captures(trace, timelines, report);
  skipped(timelines, report);
  regions(timelines, patterns, report);
  not_compared(timelines, report);
  describe_subject(trace, report);
  refused_by_framework(timelines, report);
  broke_the_device(timelines, report);
  const bool twice = std::any_of(report.coverage.regions.begin(), report.coverage.regions.end(),
                                 [](const auto& region) { return region.occurrences >= 2; });
  if (report.coverage.captures_completed > 0 || judged_built_graphs(timelines))
    report.coverage.kind = reports::CoverageKind::capture;
  else if (twice)
    report.coverage.kind = reports::CoverageKind::eager;
}

}  // namespace capgate::analysis
