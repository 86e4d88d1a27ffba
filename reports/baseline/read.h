// What `--baseline FILE` names: an older report, or a baseline file.
#pragma once

#include <string>
#include <vector>

#include "reports/baseline/baseline_file.h"

namespace capgate::reports {

struct Baseline {
  bool is_report = false;
  // For compare_with_baseline. Of a file, its entries as faults; one that has ended stands there as a
  // suppressed fault, which the comparison takes for none.
  Report report;
  std::vector<BaselineEntry> entries;  // of a file
};

// `day`: entries that end before it no longer hold.
Result<Baseline> read_baseline(const std::string& path, const std::string& day = today());

// The entries that have ended before `day` and whose fault is in `report` all the same.
std::vector<const BaselineEntry*> ended(const Baseline& baseline, const Report& report,
                                        const std::string& day = today());

}  // namespace capgate::reports
