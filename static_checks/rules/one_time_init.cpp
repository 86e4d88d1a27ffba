#include "static_checks/rules/rule.h"

namespace capgate::lint {

Judgement one_time_init(const OnceEvent& e) {
  return {reports::Severity::warning,
          e.work + " runs only once, behind '" + e.guard + "': a warm-up runs it and the graph lacks it"};
}

}  // namespace capgate::lint
