#include "static_checks/link/patterns.h"

#include <map>
#include <set>

namespace capgate::lint {

std::vector<const PatternSummary*> patterns_alone(const std::vector<UnitSummary>& units, Exits& exits) {
  std::set<Place> instantiated;
  std::map<Place, std::pair<const UnitSummary*, const PatternSummary*>> alone;
  for (const UnitSummary& unit : units)
    for (const PatternSummary& pattern : unit.patterns)
      if (pattern.instantiated) instantiated.insert(pattern.place);
  for (const UnitSummary& unit : units)
    for (const PatternSummary& pattern : unit.patterns) {
      if (instantiated.contains(pattern.place)) continue;
      auto& known = alone[pattern.place];
      if (!known.first || unit.main_file < known.first->main_file) known = {&unit, &pattern};
    }
  std::vector<const PatternSummary*> patterns;
  for (const auto& [place, from] : alone) {
    patterns.push_back(from.second);
    for (const RegionExit& exit : from.second->exits) exits.emplace_back(from.first->main_file, &exit);
  }
  return patterns;
}

void add_left_open(const std::vector<UnitSummary>& units, std::vector<NotAnalysed>& not_analysed) {
  std::set<std::string> continued;
  for (const UnitSummary& unit : units) continued.insert(unit.continued.begin(), unit.continued.end());
  std::set<std::pair<Place, std::string>> told;
  for (const UnitSummary& unit : units)
    for (const LeftOpen& left : unit.left_open) {
      const OpenPlace& open = left.open;
      if (!left.usr.empty() && continued.contains(left.usr)) continue;
      if (!told.emplace(open.place, open.reason).second) continue;  // a header's, once for each unit
      not_analysed.push_back({open.function, left.usr, open.place, open.reason, open.remedy, open.region});
      not_analysed.back().whole = true;
    }
}

}  // namespace capgate::lint
