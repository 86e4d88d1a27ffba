// Which steps of a verification launch an executable, and what else these steps run.
#pragma once

#include <vector>

#include "detector/analysis/verify/seen_steps.h"

namespace capgate::analysis {

bool launches(const Timeline& timeline, const SeenStep& seen, const Executable& exec);

// An eager step launches it, or another executable that holds work of the same capture.
bool eager_launches(const Timeline& timeline, const std::vector<SeenStep>& steps, const Executable& exec);

// A replay that also runs all kernels of the eager step gives its results, whatever the graph does.
bool replays_run_the_eager_step(const std::vector<SeenStep>& steps);

}  // namespace capgate::analysis
