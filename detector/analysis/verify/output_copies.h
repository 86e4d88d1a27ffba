// Whether a run copies the outputs that a verification says it compared.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "detector/analysis/verify/seen_steps.h"

namespace capgate::analysis {

// Kernels ran while the outputs of a replay were read: they may be what copied them.
bool kernels_ran(const std::vector<SeenStep>& steps);

// The first output that is not copied after some launch of `exec` in these input sets; empty: all are.
std::string not_copied(const Timeline& timeline, const Verification& of, const std::vector<SeenStep>& steps,
                       const Executable& exec, const std::set<int>& sets);

}  // namespace capgate::analysis
