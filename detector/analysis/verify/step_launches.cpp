#include "detector/analysis/verify/step_launches.h"

#include <algorithm>
#include <map>
#include <utility>

namespace capgate::analysis {
namespace {

bool share_a_capture(const ExecVersion& a, const ExecVersion& b) {
  return std::any_of(a.captures.begin(), a.captures.end(), [&](int32_t capture) {
    return std::find(b.captures.begin(), b.captures.end(), capture) != b.captures.end();
  });
}

bool is_in(const Timeline& timeline, const std::vector<size_t>& these, const Executable& exec) {
  for (const size_t i : these) {
    const Executable& other = timeline.executables[timeline.launches[i].exec - 1];
    if (other.number == exec.number) return true;
    for (const auto& version : exec.versions)
      for (const auto& held : other.versions)
        if (share_a_capture(version, held)) return true;
  }
  return false;
}

}  // namespace

bool launches(const Timeline& timeline, const SeenStep& seen, const Executable& exec) {
  return std::any_of(seen.launches.begin(), seen.launches.end(),
                     [&](size_t i) { return timeline.launches[i].exec == exec.number; });
}

bool eager_launches(const Timeline& timeline, const std::vector<SeenStep>& steps, const Executable& exec) {
  return std::any_of(steps.begin(), steps.end(), [&](const SeenStep& seen) {
    return !seen.step->replay &&
           (is_in(timeline, seen.launches, exec) || is_in(timeline, seen.launches_elsewhere, exec));
  });
}

bool replays_run_the_eager_step(const std::vector<SeenStep>& steps) {
  std::map<std::pair<int, int>, const SeenStep*> eager;  // by set and step
  for (const auto& seen : steps)
    if (!seen.step->replay) eager.try_emplace({seen.step->set, seen.step->step}, &seen);
  return std::any_of(steps.begin(), steps.end(), [&](const SeenStep& seen) {
    const auto same = eager.find({seen.step->set, seen.step->step});
    if (!seen.step->replay || seen.launches.empty() || same == eager.end()) return false;
    const auto& work = same->second->work;
    return !work.empty() && std::all_of(work.begin(), work.end(), [&](const auto& kernel) {
      const auto again = seen.work.find(kernel.first);
      return again != seen.work.end() && again->second >= kernel.second;
    });
  });
}

}  // namespace capgate::analysis
