// The ratchet: the numbers of a report against those of an earlier one. It only ever makes a gate stricter:
// what fails without it still fails.
#pragma once

#include <string>
#include <vector>

#include "reports/ratchet/metrics.h"

namespace capgate::reports {

struct Worse {
  std::string metric;
  double before = 0, now = 0;
};

struct Ratchet {
  std::string file;          // with the numbers that must not get worse
  std::vector<Worse> worse;  // by name
  // Held metrics that only one of the two has. What this report lacks cannot be shown to be no worse.
  std::vector<std::string> lost, added;
  std::string other_program;  // of the file, where it is about another one
};

Ratchet compare_metrics(const Metrics& now, const Metrics& before, std::string file);

}  // namespace capgate::reports
