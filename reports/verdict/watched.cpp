#include "reports/verdict/watched.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "reports/verdict/compared.h"
#include "reports/verdict/graph_counts.h"
#include "reports/verdict/verified.h"

namespace capgate::reports {

namespace {

// What a node was given by a change that the trace does not have.
std::string changed_words(const Report& report) {
  const auto& gaps = report.coverage.not_checked;
  const bool unknown = std::any_of(gaps.begin(), gaps.end(), [](const std::string& gap) {
    return gap.find("of an executable graph's nodes that the trace does not have") != std::string::npos;
  });
  return unknown ? "; not what changed nodes were given" : "";
}

// What was seen to go, and may be used or not: a slot of a structure need not be a pointer.
std::string uncertain_words(const Report& report) {
  const auto count = std::count_if(report.violations.begin(), report.violations.end(), is_uncertain_word);
  if (count == 0) return "";
  const auto words = static_cast<uint64_t>(count);
  return "; " + counted(words, "address", "addresses") + " inside " +
         (words == 1 ? "a parameter structure" : "parameter structures") + " may be stale";
}

}  // namespace

bool is_uncertain_word(const Violation& violation) {
  const auto certain = violation.details.find("certain");
  return !violation.suppressed && certain != violation.details.end() && certain->second == "no";
}

std::string what_was_watched(const Report& report) {
  if (!report.coverage.replay) return "";
  const ReplayCoverage& replay = *report.coverage.replay;
  if (replay.memory_watched == MemoryWatched::no) return "no memory";
  const std::string words = changed_words(report) + uncertain_words(report);
  const std::string what =
      fmt::format("memory of {} at {}",
                  counted(replay.graphs, each_capture_is_a_graph(report) ? "graph" : "executable graph"),
                  counted(replay.launches, "launch", "launches"));
  if (replay.memory_watched == MemoryWatched::blocks) return what + ", block by block" + words;
  std::string names;
  for (const std::string& name : replay.allocators_not_seen) names += (names.empty() ? "" : " and ") + name;
  return what + (names.empty() ? ", segment by segment" : ", but not the blocks of " + names) + words;
}

std::string what_was_seen(const Report& report) {
  const std::string watched = what_was_watched(report), compared = what_was_compared(report),
                    verified = what_was_verified(report);
  return (watched.empty() ? "" : ". Watched: " + watched) +
         (compared.empty() ? "" : ". Compared: " + compared) +
         (verified.empty() ? "" : ". Verified: " + verified);
}

}  // namespace capgate::reports
