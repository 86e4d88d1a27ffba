// Regions of templates, and those that functions leave open: what no single unit can settle.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "static_checks/analysis.h"

namespace capgate::lint {

// Calls that leave regions, each with the main file of its unit.
using Exits = std::vector<std::pair<std::string, const RegionExit*>>;

// Of the templates in which a region begins, those of which no unit has seen what clang made of them, each
// once: they are judged as they are written. Their exits come to `exits`.
std::vector<const PatternSummary*> patterns_alone(const std::vector<UnitSummary>& units, Exits& exits);

// Of the regions that functions leave open which nothing in their unit calls, those that no other unit goes
// on with either.
void add_left_open(const std::vector<UnitSummary>& units, std::vector<NotAnalysed>& not_analysed);

}  // namespace capgate::lint
