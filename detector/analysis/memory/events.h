// What happens to memory, graphs and executables in a run, in its order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "detector/analysis/timeline.h"

namespace capgate::analysis {

struct Event {
  enum class What : uint8_t { ends, born, pool_block, captured, made, edited, launched, tried, exec_gone };
  uint64_t seq = 0;
  What what = What::ends;
  // Of a call, a pool block, a capture, an executable (made, edited) or a launch. tried: of a failed launch.
  // exec_gone: an executable's handle.
  size_t index = 0;
  size_t part = 0;  // of an executable: its version or edit
};

// Memory is somebody's from the end of the call that made it to the beginning of the one that takes it back:
// in between, another thread may be given what this one frees.
std::vector<Event> memory_events(const Timeline& timeline);

// A span of the run in which a capture was open on any thread.
struct Window {
  uint64_t begin = 0, end = 0;
};
std::vector<Window> capture_windows(const Timeline& timeline);  // in order and apart

}  // namespace capgate::analysis
