// What a report proves, and what it does not: the words of a pass, and of what keeps it from being more.
#pragma once

#include <string>
#include <vector>

#include "reports/model/report.h"

namespace capgate::reports {

// What the evidence is of.
struct Claim {
  std::string scope;  // "capture only", "eager step only", "source only", "capture and source", …
  std::string text;   // "1 graph captured, launched 5 times, nothing refused or left out"
};

// Of a report without errors and reasons. A report that looked at nothing has an empty scope.
Claim what_was_proved(const Report& report);

struct NotProved {
  std::string text;     // "that a replay computes what the eager step does; compare …"
  std::string command;  // that would prove it; empty where there is none yet
};

// The first thing that somebody who is about to rely on the report should know is missing; of any verdict.
NotProved what_was_not_proved(const Report& report);

}  // namespace capgate::reports
