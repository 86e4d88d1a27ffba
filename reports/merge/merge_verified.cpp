#include "reports/merge/merge_verified.h"

#include <algorithm>

namespace capgate::reports {
namespace {

void name_captures(std::vector<std::string>& captures, const std::string& prefix) {
  for (auto& capture : captures) capture.insert(0, prefix);
}

bool has_verification(const MergeInput& input) {
  const auto& replay = input.report.coverage.replay;
  return replay && (!replay->verified.empty() || !replay->not_verified.empty());
}

void list_graphs(Report& report) {
  if (!report.coverage.replay) report.coverage.replay.emplace();
  UnverifiedReplay& all = report.coverage.replay->not_verified.emplace_back();
  all.executable =
      report.subject.program.empty() ? "of another run" : "of another run of " + report.subject.program;
  all.launches = report.coverage.replays;
  all.why = "its run has no verification";
  for (const Capture& capture : report.captures) {
    if (capture.replays == 0) continue;
    all.captures.push_back(capture.id);
    if (capture.bucket &&
        std::find(all.buckets.begin(), all.buckets.end(), *capture.bucket) == all.buckets.end())
      all.buckets.push_back(*capture.bucket);
  }
}

}  // namespace

void add_verified(ReplayCoverage& into, const ReplayCoverage& from) {
  into.verified.insert(into.verified.end(), from.verified.begin(), from.verified.end());
  into.not_verified.insert(into.not_verified.end(), from.not_verified.begin(), from.not_verified.end());
  into.records_lost += from.records_lost;
  into.compared.insert(into.compared.end(), from.compared.begin(), from.compared.end());
  into.not_compared.insert(into.not_compared.end(), from.not_compared.begin(), from.not_compared.end());
}

void name_executables(ReplayCoverage& replay, const std::string& prefix) {
  for (auto& verified : replay.verified) {
    name_captures(verified.captures, prefix);
    if (verified.executable) verified.executable->insert(0, prefix);
  }
  for (auto& other : replay.not_verified) {
    name_captures(other.captures, prefix);
    other.executable.insert(0, prefix);
  }
  for (auto& compared : replay.compared) {
    name_captures(compared.captures, prefix);
    compared.executable.insert(0, prefix);
  }
  for (auto& other : replay.not_compared) {
    name_captures(other.captures, prefix);
    other.executable.insert(0, prefix);
  }
}

void list_unverified_runs(std::vector<MergeInput>& inputs) {
  if (std::none_of(inputs.begin(), inputs.end(), has_verification)) return;
  for (auto& input : inputs)
    if (!has_verification(input) && input.report.coverage.replays > 0) list_graphs(input.report);
}

}  // namespace capgate::reports
