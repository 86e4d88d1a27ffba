// The trial over time, for the report: what each thread did, as a bounded number of bars. A trace holds every
// call; a reader looks for where the step waits, and how its regions, captures and replays follow each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "detector/analysis/places.h"
#include "detector/analysis/timeline.h"
#include "reports/model/report.h"

namespace capgate::analysis {

// A bar whose times are still those of the trace's clock.
struct TimedBar {
  reports::Bar bar;
  uint64_t begin_ns = 0, end_ns = 0, busy_ns = 0;
};

struct TimedThread {
  std::string process, thread;
  std::vector<TimedBar> bars;  // by their beginning
};

// Of one process: its regions, captures and replays, and the calls that block the host from the first of them
// to the last.
std::vector<TimedThread> bars_of(const Timeline& timeline, Places& places);

// The most bars in a report: about as many as a screen has room for.
constexpr size_t kMostBars = 300;

// Of all processes, with times from the first bar on. Where there are too many, equal bars that follow each
// other on a thread become one, the closest ones first; if that does not do, the shortest are left out.
// Nothing where there is no bar.
std::optional<reports::RunTimeline> run_timeline(std::vector<TimedThread> threads, size_t most = kMostBars);

}  // namespace capgate::analysis
