#include "reports/verdict/verified.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/counted.h"

namespace capgate::reports {
namespace {

constexpr const char* kVerify =
    "call verify_replay in the audited program for each graph that it launches (docs/verify.md), then: "
    "capgate "
    "audit -- PROGRAM";

const std::vector<VerifiedReplay>& verifications(const Report& report) {
  static const std::vector<VerifiedReplay> kNone;
  return report.coverage.replay ? report.coverage.replay->verified : kNone;
}

bool is_of(const std::vector<std::string>& buckets, const std::string* wanted) {
  return !wanted || std::find(buckets.begin(), buckets.end(), *wanted) != buckets.end();
}

std::string of_bucket(const std::string* bucket) {
  return bucket ? fmt::format("bucket \"{}\": ", *bucket) : "";
}

// One that says that its graph gave the eager results, and is not enough: why.
std::string weakness(const VerifiedReplay& verified) {
  if (verified.input_sets < 2) return "it takes two input sets";
  if (verified.steps < 3) return "it takes three steps in a row";
  if (verified.unvaried.size() >= verified.outputs.size()) return "no input set changed any of its outputs";
  if (verified.refilled_bytes == 0) return "it did not run again after free memory was filled";
  return "";
}

std::string remedy_of(const VerifiedReplay& verified) {
  return verified.refilled_bytes == 0 ? "leave the refilling of verify_replay on, and free some device "
                                        "memory before it, then: capgate "
                                        "audit -- PROGRAM"
                                      : kVerify;
}

// What makes the verification count that is there and does not; else a call of it.
std::string remedy_for(const Report& report, const UnverifiedReplay& graph) {
  for (const auto& verified : verifications(report))
    if (verified.result == ReplayResult::not_counted && verified.executable == graph.executable &&
        !verified.remedy.empty() &&
        graph.why == fmt::format("verification \"{}\" does not count: {}", verified.name, verified.why))
      return verified.remedy;
  return kVerify;
}

// Of one bucket, or of all that was launched.
std::optional<Reason> missing(const Report& report, const std::string* bucket) {
  for (const auto& other : report.coverage.replay->not_verified)
    if (is_of(other.buckets, bucket))
      return Reason{fmt::format("{}the executable graph {} was launched {} and is not verified: {}",
                                of_bucket(bucket), other.executable,
                                other.launches == 1 ? "once" : counted(other.launches, "time"), other.why),
                    remedy_for(report, other)};
  // Of several verifications of one executable it takes one that is enough.
  std::map<std::string, const VerifiedReplay*> best;  // by executable
  for (const auto& verified : verifications(report)) {
    if (verified.result != ReplayResult::equal || !verified.executable || !is_of(verified.buckets, bucket))
      continue;
    const VerifiedReplay*& known = best[*verified.executable];
    if (!known || weakness(verified).empty()) known = &verified;
  }
  for (const auto& [executable, verified] : best)
    if (const std::string weak = weakness(*verified); !weak.empty())
      return Reason{
          fmt::format("{}verification \"{}\" is not enough: {}", of_bucket(bucket), verified->name, weak),
          remedy_of(*verified)};
  if (best.empty()) return Reason{of_bucket(bucket) + "no executable graph was verified", kVerify};
  return std::nullopt;
}

std::string unfollowed(const std::vector<std::string>& allocators) {
  if (std::find(allocators.begin(), allocators.end(), "PyTorch") != allocators.end())
    return "capgate audit --trace DIR -- PROGRAM, from the program's start, where DIR has room for the whole "
           "trace";
  std::string names;
  for (const auto& name : allocators) names += (names.empty() ? "" : " or ") + name;
  return "audit a process that does not import " + names +
         " (blocks of it are not followed); a graph that uses it takes its memory from an allocator that is "
         "followed: PyTorch's own or CUDA's";
}

// What a verification cannot show of memory, the audit must have watched.
std::optional<Reason> unwatched(const Report& report) {
  const ReplayCoverage& replay = *report.coverage.replay;
  if (replay.memory_watched != MemoryWatched::blocks) {
    std::string names;
    for (const auto& name : replay.allocators_not_seen) names += (names.empty() ? "" : " and ") + name;
    return Reason{"the memory of the graphs was not watched block by block" +
                      (names.empty() ? std::string() : ": the blocks of " + names + " were not seen"),
                  names.empty()
                      ? "capgate audit --trace DIR -- PROGRAM, where DIR has room for the whole trace"
                      : unfollowed(replay.allocators_not_seen)};
  }
  uint64_t lost = replay.records_lost;
  for (const auto& process : report.coverage.processes) lost = std::max(lost, process.events_dropped);
  if (lost > 0)
    return Reason{counted(lost, "record") + " found no room in the trace",
                  "capgate audit --trace DIR -- PROGRAM, where DIR has room for the whole trace"};
  return std::nullopt;
}

}  // namespace

bool all_is_verified(const Report& report) {
  const auto& all = verifications(report);
  return !all.empty() && report.coverage.replay->not_verified.empty() &&
         std::any_of(all.begin(), all.end(),
                     [](const auto& verified) { return verified.result == ReplayResult::equal; });
}

std::string what_was_verified(const Report& report) {
  std::set<std::string> graphs;
  const VerifiedReplay* not_counted = nullptr;
  uint64_t sets = UINT64_MAX, steps = UINT64_MAX;
  bool again = true;
  for (const auto& verified : verifications(report)) {
    if (verified.result == ReplayResult::not_counted) not_counted = &verified;
    if (verified.result != ReplayResult::equal || !verified.executable) continue;
    graphs.insert(*verified.executable);
    sets = std::min(sets, verified.input_sets);
    steps = std::min(steps, verified.steps);
    again = again && verified.refilled_bytes > 0;
  }
  std::string out;
  if (!graphs.empty())
    out = fmt::format("{} gave the eager results for {} over {}{}{}", counted(graphs.size(), "graph"),
                      counted(sets, "input set"), counted(steps, "step"), graphs.size() > 1 ? " each" : "",
                      again ? ", again after free memory was filled" : "");
  if (!verifications(report).empty() && !report.coverage.replay->not_verified.empty()) {
    const auto others = report.coverage.replay->not_verified.size();
    out += (out.empty() ? "" : "; ") + counted(others, "graph") + (others == 1 ? " is" : " are") +
           " not verified";
  }
  if (not_counted)
    out += fmt::format("{}verification \"{}\" does not count: {}", out.empty() ? "" : "; ", not_counted->name,
                       not_counted->why);
  return out;
}

std::optional<Reason> missing_verification(const Report& report, const std::vector<std::string>& buckets) {
  if (verifications(report).empty()) return Reason{"no replay was compared with an eager step", kVerify};
  for (const auto& bucket : buckets)
    if (auto reason = missing(report, &bucket)) return reason;
  if (buckets.empty())
    if (auto reason = missing(report, nullptr)) return reason;
  return unwatched(report);
}

}  // namespace capgate::reports
