#include "static_checks/rules/rule.h"

namespace capgate::lint {

Judgement one_time_init(const OnceEvent& e) {
  if (e.changes)
    return {reports::Severity::warning,
            e.work + " runs only after a change, behind '" + e.guard +
                "': the graph has it in every replay or in none",
            {{"runs", "after a change"}}};
  return {reports::Severity::warning,
          e.work + " runs only once, behind '" + e.guard + "': a warm-up runs it and the graph lacks it"};
}

}  // namespace capgate::lint
