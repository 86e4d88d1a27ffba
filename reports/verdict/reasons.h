// Why a report proves less than a pass: reasons that follow from its contents.
#pragma once

#include <optional>

#include "reports/model/report.h"

namespace capgate::reports {

// The reason of a program that exited non-zero or died of a signal that the user did not send; empty when it
// ended well. finish() adds it: a producer need not.
std::optional<Reason> program_error(const Run& run);

// What a pass must rest on and the coverage does not show: a completed capture or a marked region seen twice,
// or every file parsed. finish() adds it when no producer gave a reason of its own.
std::optional<Reason> missing_proof(const Report& report);

// Nothing that was linted contains a region: the sources may be the wrong ones, or what captures is named
// otherwise by now. The reason of a lint, until it is merged with one that has a region.
const Reason& no_region();

// Adds the two above to the report's reasons, where they hold. What judges a report that somebody else wrote
// asks for them anew: a lost line must not turn it into a pass.
void add_missing_reasons(Report& report);

}  // namespace capgate::reports
