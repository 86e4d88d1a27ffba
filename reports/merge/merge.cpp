#include "reports/merge/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/file_name.h"
#include "reports/merge/assumptions.h"
#include "reports/merge/merge_sources.h"
#include "reports/merge/merge_verified.h"
#include "reports/merge/merge_violations.h"
#include "reports/model/names.h"
#include "reports/suppressions/suppressions.h"
#include "reports/verdict/causes.h"
#include "reports/verdict/finish.h"
#include "reports/verdict/reasons.h"

namespace capgate::reports {
namespace {

bool is_runtime(const Report& report) {
  return report.coverage.kind == CoverageKind::capture || report.coverage.kind == CoverageKind::eager;
}

int component_order(const Report& report) {
  switch (report.tool.component) {
    case Component::detector:
      return 0;
    case Component::engine:
      return 1;
    case Component::merge:
      return 2;
    case Component::static_checks:
      return 3;
  }
  return 4;
}

struct Field {
  const char* name;
  std::string Subject::* value;
};
constexpr Field kFields[] = {{"build", &Subject::build_id},
                             {"source digest", &Subject::source_digest},
                             {"code digest", &Subject::code_digest},
                             {"config", &Subject::config_digest},
                             {"mode", &Subject::mode},
                             {"GPU architecture", &Subject::sm},
                             {"driver branch", &Subject::driver_branch}};

Error mismatch(const MergeInput& a, const MergeInput& b, std::string_view what, std::string_view in_a,
               std::string_view in_b) {
  return Error{
      fmt::format("cannot merge: {} is about {} {}, {} about {}; make both reports from the same build of "
                  "the same program",
                  a.name, what, in_a, b.name, in_b)};
}

// Any two of them, so that what the first leaves open is still compared between the others.
Result<void> check_subjects(const std::vector<MergeInput>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t k = i + 1; k < inputs.size(); ++k) {
      const Subject& a = inputs[i].report.subject;
      const Subject& b = inputs[k].report.subject;
      for (const auto& [field, value] : kFields)
        if (!(a.*value).empty() && !(b.*value).empty() && a.*value != b.*value)
          return mismatch(inputs[i], inputs[k], field, a.*value, b.*value);
      if (a.devices && b.devices && *a.devices != *b.devices)
        return mismatch(inputs[i], inputs[k], "a number of GPUs of", std::to_string(*a.devices),
                        std::to_string(*b.devices));
      if (is_runtime(inputs[i].report) && is_runtime(inputs[k].report) && !a.program.empty() &&
          !b.program.empty() && file_name(a.program) != file_name(b.program))
        return mismatch(inputs[i], inputs[k], "program", a.program, b.program);
    }
  return {};
}

template <class T>
void take_if_empty(T& into, const T& from) {
  if (into == T{}) into = from;
}

template <class T>
void add_new(std::vector<T>& into, const std::vector<T>& from) {
  for (const auto& item : from)
    if (std::find(into.begin(), into.end(), item) == into.end()) into.push_back(item);
}

void merge_subject(Subject& into, const Subject& from) {
  take_if_empty(into.program, from.program);
  for (const auto& field : kFields) take_if_empty(into.*field.value, from.*field.value);
  add_new(into.buckets, from.buckets);
  if (!into.devices) into.devices = from.devices;
  for (const auto& [key, value] : from.more) {
    std::string& own = into.more.try_emplace(key, value).first->second;
    // Two lints of different sources are one of both.
    if (key == "sources" && own != value) own += ", " + value;
  }
}

void merge_environment(Environment& into, const Environment& from) {
  if (into.gpus.empty()) into.gpus = from.gpus;
  take_if_empty(into.driver, from.driver);
  take_if_empty(into.cuda_runtime, from.cuda_runtime);
  take_if_empty(into.cupti.path, from.cupti.path);
  take_if_empty(into.cupti.version, from.cupti.version);
  take_if_empty(into.host, from.host);
  take_if_empty(into.python, from.python);
  take_if_empty(into.torch, from.torch);
}

void add(std::optional<uint64_t>& into, const std::optional<uint64_t>& from) {
  if (from) into = into.value_or(0) + *from;
}

// What was watched the least decides.
void merge_replay(std::optional<ReplayCoverage>& into, const std::optional<ReplayCoverage>& from) {
  if (!into)
    into = from;
  else if (from) {
    into->graphs += from->graphs;
    into->launches += from->launches;
    into->memory_watched = std::min(into->memory_watched, from->memory_watched);
    add_new(into->allocators_not_seen, from->allocators_not_seen);
    std::sort(into->allocators_not_seen.begin(), into->allocators_not_seen.end());
    add_verified(*into, *from);
  }
}

void merge_coverage(Coverage& into, const Coverage& from) {
  into.kind = std::max(into.kind, from.kind);
  if (into.cupti.empty() || (into.cupti == "attached" && !from.cupti.empty())) into.cupti = from.cupti;
  into.processes.insert(into.processes.end(), from.processes.begin(), from.processes.end());
  into.captures_completed += from.captures_completed;
  into.captures_empty += from.captures_empty;
  into.captures_failed += from.captures_failed;
  into.captures_open += from.captures_open;
  into.replays += from.replays;
  for (const auto& region : from.regions) {
    const auto own = std::find_if(into.regions.begin(), into.regions.end(), [&](const RegionCoverage& known) {
      return known.name == region.name && known.source == region.source;
    });
    // Not added: a step that each of two ranks saw once was seen twice by nobody.
    if (own == into.regions.end())
      into.regions.push_back(region);
    else
      own->occurrences = std::max(own->occurrences, region.occurrences);
  }
  add(into.files_parsed, from.files_parsed);
  add(into.files_failed, from.files_failed);
  add_new(into.not_checked, from.not_checked);
  merge_sources(into, from);
  merge_replay(into.replay, from.replay);
  if (!into.changed) into.changed = from.changed;
}

// Each run numbers its captures from one.
void keep_capture_ids_apart(const Report& into, Report& from, size_t number) {
  std::set<std::string> taken;
  for (const auto& capture : into.captures) taken.insert(capture.id);
  const bool clash = std::any_of(from.captures.begin(), from.captures.end(),
                                 [&](const Capture& capture) { return taken.contains(capture.id); });
  if (!clash) return;
  const std::string prefix = std::to_string(number) + ":";
  for (auto& capture : from.captures) capture.id = prefix + capture.id;
  for (auto& violation : from.violations) {
    if (violation.capture) violation.capture = prefix + *violation.capture;
    for (auto& nodes : violation.nodes) nodes.capture.insert(0, prefix);
  }
  if (from.coverage.replay) name_executables(*from.coverage.replay, prefix);
  if (!from.timeline) return;
  for (auto& thread : from.timeline->threads)
    for (auto& bar : thread.bars)
      if (bar.capture) bar.capture->insert(0, prefix);
}

void merge_timeline(std::optional<RunTimeline>& into, std::optional<RunTimeline> from) {
  if (!from) return;
  if (!into) into.emplace();
  into->left_out += from->left_out;
  into->threads.insert(into->threads.end(), std::make_move_iterator(from->threads.begin()),
                       std::make_move_iterator(from->threads.end()));
}

void merge_one(Report& into, MergeInput from, size_t number) {
  Report& report = from.report;
  if (report.tool.component == Component::merge)
    into.inputs.insert(into.inputs.end(), report.inputs.begin(), report.inputs.end());
  else
    into.inputs.push_back({report.tool.component, from.digest, report.verdict});
  add_new(into.reasons, report.reasons);
  if (report.verdict == Verdict::inconclusive && report.reasons.empty())
    into.reasons.push_back(
        {fmt::format("{} is inconclusive and does not say why", from.name), "make the report again"});
  if (!into.run) into.run = report.run;
  merge_subject(into.subject, report.subject);
  merge_environment(into.environment, report.environment);
  keep_capture_ids_apart(into, report, number);
  merge_coverage(into.coverage, report.coverage);
  for (const auto& [key, value] : report.metrics) {
    const auto [own, added] = into.metrics.emplace(key, value);
    if (!added) own->second = std::max(own->second, value);
  }
  into.captures.insert(into.captures.end(), std::make_move_iterator(report.captures.begin()),
                       std::make_move_iterator(report.captures.end()));
  merge_timeline(into.timeline, std::move(report.timeline));
  merge_violations(into.violations, std::move(report.violations), number);
}

}  // namespace

Result<Report> merge(std::vector<MergeInput> inputs, const std::string& tool_version) {
  if (inputs.empty()) return Error{"nothing to merge"};
  std::sort(inputs.begin(), inputs.end(), [](const MergeInput& a, const MergeInput& b) {
    return std::pair(component_order(a.report), std::string_view(a.digest)) <
           std::pair(component_order(b.report), std::string_view(b.digest));
  });
  inputs.erase(std::unique(inputs.begin(), inputs.end(),
                           [](const MergeInput& a, const MergeInput& b) {
                             return !a.digest.empty() && a.digest == b.digest;
                           }),
               inputs.end());
  if (auto compatible = check_subjects(inputs); !compatible) return Error{compatible.error()};
  if (auto of_one_program = check_sources(inputs); !of_one_program) return Error{of_one_program.error()};

  list_unverified_runs(inputs);
  Report merged;
  merged.tool = {"capgate", tool_version, Component::merge};
  size_t number = 0;
  for (auto& input : inputs) merge_one(merged, std::move(input), ++number);
  for (auto& violation : merged.violations) violation.baseline.reset();
  join_uses_with_runs(merged.violations);
  check_assumptions(merged.violations);
  drop_notes_on_used(merged);
  // Lints of several folders: it takes one of them to contain the region.
  if (std::any_of(merged.coverage.regions.begin(), merged.coverage.regions.end(),
                  [](const RegionCoverage& region) { return region.source == RegionSource::lint; }))
    std::erase(merged.reasons, no_region());
  finish(merged);
  return merged;
}

}  // namespace capgate::reports
