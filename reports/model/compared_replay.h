// Graphs beside eager steps, in a report's coverage.replay.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace capgate::reports {

// An executable graph whose nodes were held against the calls of eager steps.
struct ComparedReplay {
  std::string executable;
  std::vector<std::string> captures, buckets;
  uint64_t nodes = 0, matched = 0;  // matched: in the step that has the fewest
  uint64_t steps = 0;
  uint64_t values = 0, unvaried = 0;  // that the host passes; of these, those that no step changed
  bool operator==(const ComparedReplay&) const = default;
};

// One for which there were eager steps, and none that is the same step.
struct UncomparedReplay {
  std::string executable;
  std::vector<std::string> captures, buckets;
  std::string text, remedy;
  bool operator==(const UncomparedReplay&) const = default;
};

}  // namespace capgate::reports
