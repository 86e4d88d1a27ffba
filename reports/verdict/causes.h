// Causes and their symptoms. Four faults that follow from one read-back are one thing to change: the line
// that reads back is the cause, the others are its symptoms (docs/design/one-fault-one-finding.md). A symptom
// stays in the list of violations, so that labels, suppressions and baselines can name it; it is not counted
// again.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include "reports/model/report.h"

namespace capgate::reports {

// Who follows from whom, by what the violations themselves say. Holds pointers into the report.
class Causes {
 public:
  explicit Causes(const Report& report);

  // The violation that this one follows from; null when it counts by itself. A suppressed cause hides
  // nothing, nor does one that is less grave, nor one that is itself a symptom.
  const Violation* cause_of(const Violation& violation) const;

  // In the order of the report.
  const std::vector<const Violation*>& symptoms_of(const Violation& cause) const;

  // Of the cause and its symptoms together, in a step; 0 where nothing was measured.
  double blocked_us_per_step(const Violation& cause) const;

  // What ranks causes. Each call that blocks the host counts as so many microseconds more than it was
  // measured to take: one wait of 63 is noise beside eight of 46, which come back in each step.
  static constexpr double kCallUs = 10;
  double weight_per_step(const Violation& cause) const;

 private:
  std::map<std::string_view, const Violation*> by_id_;
  std::map<const Violation*, std::vector<const Violation*>> symptoms_;
};

// Where the fix of a situation replaces the whole function (Situation::whole_function), what one function has
// of that situation is one cause: the first of its lines, of which the others are symptoms. The ids must be
// final, and settle_symptoms comes after it.
void join_whole_functions(std::vector<Violation>& violations);

// In a merged report, by the names that violations have there: a fault that only the sources show is a
// symptom of the run's wait or copy at the line from which its value comes.
void join_uses_with_runs(std::vector<Violation>& violations);

// Makes the symptom_of of all violations name the final id of a cause, and drops one that names nothing or
// something that it does not follow from. `names`: what each violation was called before it got its id.
void settle_symptoms(std::vector<Violation>& violations, const std::vector<std::string>& names);

}  // namespace capgate::reports
