#include "reports/ratchet/ratchet.h"

#include <cmath>
#include <string_view>
#include <utility>

#include "base/file_name.h"

namespace capgate::reports {
namespace {

// A report holds an average over steps with three digits behind the point: the same waits in twice the steps
// may differ in the last of them.
bool is_more(double a, double b) {
  return a > b + std::fmax(0.001, std::fabs(b) * 1e-9);
}

}  // namespace

Ratchet compare_metrics(const Metrics& now, const Metrics& before, std::string file) {
  Ratchet out;
  out.file = std::move(file);
  for (const auto& [metric, value] : before.values) {
    const Held direction = held(metric);
    if (direction == Held::no) continue;
    const auto at = now.values.find(metric);
    if (at == now.values.end())
      out.lost.push_back(metric);
    else if (direction == Held::more_is_worse ? is_more(at->second, value) : is_more(value, at->second))
      out.worse.push_back({metric, value, at->second});
  }
  for (const auto& [metric, value] : now.values)
    if (held(metric) != Held::no && !before.values.contains(metric)) out.added.push_back(metric);
  // The same program lies in another folder on another machine.
  if (!now.program.empty() && !before.program.empty() && file_name(now.program) != file_name(before.program))
    out.other_program = before.program;
  return out;
}

}  // namespace capgate::reports
