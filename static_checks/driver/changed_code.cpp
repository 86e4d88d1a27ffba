#include "static_checks/driver/changed_code.h"

#include <algorithm>
#include <utility>

namespace capgate::lint {

void ChangedCode::sort() {
  for (auto& [file, functions] : functions_)
    std::sort(functions.begin(), functions.end(),
              [](const FunctionExtent& a, const FunctionExtent& b) { return a.first_line < b.first_line; });
}

bool ChangedCode::concerns(const Finding& finding, const Changes& changes) const {
  if (changes.touches(finding.place)) return true;
  for (const FlowStep& step : finding.flow)
    if (changes.touches(step.place)) return true;
  const auto it = functions_.find(finding.place.file);
  if (it == functions_.end()) return false;
  const auto line = static_cast<unsigned>(finding.place.line);
  for (const FunctionExtent& function : it->second)
    if (function.first_line <= line && line <= function.last_line &&
        changes.touches(function.file, static_cast<int>(function.first_line),
                        static_cast<int>(function.last_line)))
      return true;
  return false;
}

std::vector<std::string> ChangedCode::in_reach(const Changes& changes) const {
  std::vector<std::string> files;
  for (const auto& [file, lines] : changes.lines()) {
    const auto readers = read_by_.find(file);
    if (readers == read_by_.end()) continue;
    if (std::none_of(readers->second.begin(), readers->second.end(),
                     [&](const std::string& unit) { return reach_.in_units.contains(unit); }))
      continue;
    const auto functions = functions_.find(file);
    const auto reached = [&](const FunctionExtent& function) {
      // Which kernels a region launches, and what they call, is not looked into.
      if (function.device_only) return true;
      const auto first = reach_.functions.lower_bound({file, static_cast<int>(function.first_line), 0});
      return first != reach_.functions.end() && first->file == file &&
             first->line <= static_cast<int>(function.last_line);
    };
    // A change is out of every region's reach where it lies wholly in functions that none reaches: a macro, a
    // type or a constant may be used by any.
    const auto out_of_reach = [&](const std::pair<int, int>& change) {
      if (functions == functions_.end()) return false;
      int64_t covered = int64_t{change.first} - 1;
      for (const FunctionExtent& function : functions->second) {  // in order of their first lines
        const int64_t first = function.first_line, last = function.last_line;
        if (first > change.second || last < change.first) continue;
        if (reached(function)) return false;
        if (first <= covered + 1) covered = std::max(covered, last);
      }
      return covered >= change.second;
    };
    if (!std::all_of(lines.begin(), lines.end(), out_of_reach)) files.push_back(file);
  }
  return files;
}

}  // namespace capgate::lint
