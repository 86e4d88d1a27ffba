#pragma once

#include "reports/model/report.h"

namespace capgate::reports {

// Fills what follows from the rest: ids, hints, what is a symptom of what, order of violations, summary,
// verdict. A producer calls it last.
void finish(Report& report);

}  // namespace capgate::reports
