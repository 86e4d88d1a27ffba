// Which functions and files of the units a change lies in, and whether a region may reach it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "static_checks/analysis.h"
#include "static_checks/changes/changes.h"
#include "static_checks/frontend/function_extent.h"

namespace capgate::lint {

class ChangedCode {
 public:
  void add_reader(const std::string& file, const std::string& unit) { read_by_[file].insert(unit); }
  void add(FunctionExtent function) { functions_[function.file].push_back(std::move(function)); }
  void add(RegionReach reach) { reach_ = std::move(reach); }
  // Once all functions are added.
  void sort();

  // Whether the change bears on the finding: on its line, on a step that leads to it, or on its function.
  bool concerns(const Finding& finding, const Changes& changes) const;
  // The changed files with changed lines that a region may reach.
  std::vector<std::string> in_reach(const Changes& changes) const;

 private:
  std::map<std::string, std::set<std::string>> read_by_;  // user's file -> main files of the units
  std::map<std::string, std::vector<FunctionExtent>> functions_;
  RegionReach reach_;
};

}  // namespace capgate::lint
