#include "reports/verdict/watched.h"

#include <fmt/format.h>

#include "base/counted.h"

namespace capgate::reports {

std::string what_was_watched(const Report& report) {
  if (!report.coverage.replay) return "";
  const ReplayCoverage& replay = *report.coverage.replay;
  if (replay.memory_watched == MemoryWatched::no) return "no memory";
  const std::string what = fmt::format("memory of {} at {}", counted(replay.graphs, "graph"),
                                       counted(replay.launches, "launch", "launches"));
  if (replay.memory_watched == MemoryWatched::blocks) return what + ", block by block";
  std::string names;
  for (const std::string& name : replay.allocators_not_seen) names += (names.empty() ? "" : " and ") + name;
  return what + (names.empty() ? ", segment by segment" : ", but not the blocks of " + names);
}

}  // namespace capgate::reports
