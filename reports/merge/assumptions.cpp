#include "reports/merge/assumptions.h"

#include <algorithm>
#include <set>
#include <string>

namespace capgate::reports {
namespace {

constexpr const char* kAssumed = "assumed";      // by which assumption, as the user wrote it
constexpr const char* kWithout = "not_assumed";  // "warning": the severity without it, where it is another

bool ran_where_it_was_ruled_out(const Violation& v) {
  // Between two replays, too, the phase is a step: nothing is captured there, and no region is open.
  const bool in_region = v.phase == Phase::capture || v.details.contains("region");
  return v.details.contains(kAssumed) && v.seen_by(Evidence::runtime) && v.seen_by(Evidence::sources) &&
         in_region;
}

void replace(std::string& text, const std::string& what, const std::string& by) {
  if (const size_t at = text.find(what); at != std::string::npos) text.replace(at, what.size(), by);
}

}  // namespace

void check_assumptions(std::vector<Violation>& violations) {
  std::set<std::string> refuted;
  for (Violation& v : violations) {
    if (!ran_where_it_was_ruled_out(v)) continue;
    const std::string& assumption = v.details[kAssumed];
    refuted.insert(assumption);
    v.severity = Severity::error;
    if (v.details.emplace("refutes", assumption).second)
      v.message += "; the run got here, so that the assumption " + assumption + " does not hold";
  }
  for (Violation& v : violations) {
    const auto assumed = v.details.find(kAssumed);
    if (assumed == v.details.end() || v.seen_by(Evidence::runtime) || !refuted.contains(assumed->second))
      continue;
    replace(v.message, "ruled out by the assumption " + assumed->second,
            "the assumption " + assumed->second + " does not hold in a run");
    if (v.severity == Severity::note && v.details.contains(kWithout)) v.severity = Severity::warning;
  }
}

}  // namespace capgate::reports
