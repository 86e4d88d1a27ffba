// What else the run shows of the graphs that give other results than their eager step.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "detector/analysis/judge.h"

namespace capgate::analysis {

// One error about the same graph is the cause of a replay-mismatch; of several nobody knows which, and each
// is named. Warnings are possible explanations: symptoms of the mismatch, listed below it. `names`: what
// symptoms call each entry.
void explain_mismatches(const std::vector<Findings::Entry*>& entries,
                        const std::map<const Findings::Entry*, std::string>& names);

}  // namespace capgate::analysis
