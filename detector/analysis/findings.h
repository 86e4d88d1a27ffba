// What the rules found, put together: equal faults at one place are one violation with a count.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "detector/analysis/steps.h"
#include "reports/model/report.h"

namespace capgate::analysis {

// Violations by rule and site; one fault is one of them, with a count.
class Findings {
 public:
  struct Entry {
    reports::Violation violation;
    std::set<int64_t> processes;
    uint64_t warm = 0, later = 0;  // occurrences in a first pass that others followed, and all the rest
    std::optional<std::pair<uint64_t, uint64_t>> sizes;  // the least and the largest
    StepShare in_regions;                                // of marked steps
    std::map<int64_t, StepShare> in_replays;  // by process: of the graph whose steps hold most of it
    std::map<const Entry*, uint64_t> causes;  // what it follows from, how often
    // What the occurrences were in and on: the violation names those of the gravest alone.
    std::map<std::pair<int64_t, int32_t>, uint64_t> captures;  // process and capture: launches of its graph
    std::set<std::pair<int64_t, int32_t>> killed;              // of them
    std::string killed_name;                                   // of those that the violation names
    uint64_t in_captures = 0;                                  // occurrences
    std::set<std::string> streams, threads;
    std::set<int> devices;
    std::map<std::string, std::set<uint64_t>> nodes;  // of graphs, by their captures' ids
    uint64_t unallowed = 0;                           // outside every allow scope
    std::string allow_reason;
  };

  Entry& at(const std::string& rule, const std::string& site);
  std::vector<reports::Violation> take();

 private:
  std::map<std::pair<std::string, std::string>, Entry> entries_;
  std::vector<Entry*> order_;
};

// What became of these captures: "killed capture 1".
std::string killed_text(const std::string& captures);

// "1 byte", "4 bytes", "4 to 4096 bytes".
std::string size_text(uint64_t least, uint64_t largest);

}  // namespace capgate::analysis
