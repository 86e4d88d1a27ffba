// From faults and reasons to a verdict and an exit code.
#pragma once

#include <optional>
#include <string>

#include "base/exit_code.h"
#include "reports/model/report.h"

namespace capgate::reports {

// Fail if there is an unsuppressed error; else inconclusive if there is a reason; else pass.
Verdict verdict_of(const Report& report);

// What the violations add up to.
Summary summary_of(const Report& report);

// What of a report that was written says otherwise than the rest of it: its verdict or its summary. Somebody
// edited it, or lost a part.
std::optional<std::string> contradiction(const Report& report);

// The reason of a program that exited non-zero or died of a signal that the user did not send; empty when it
// ended well. finish() adds it: a producer need not.
std::optional<Reason> program_error(const Run& run);

// What a pass must rest on and the coverage does not show: a completed capture or a marked region seen twice,
// or every file parsed. finish() adds it when no producer gave a reason of its own.
std::optional<Reason> missing_proof(const Report& report);

// Capture::mode of a graph that was built node by node, and launched.
inline constexpr const char* kBuiltMode = "built";

// A graph was captured, or was built node by node and launched.
bool has_graph(const Report& report);

// Graphs were launched that has_graph() does not speak of: the run did not see what they hold.
bool launched_unseen_graphs(const Report& report);

// A marked step was seen run eagerly, and there was no graph: nothing shows that the step captures.
bool is_eager_alone(const Report& report);

// Nothing that was linted contains a region: the sources may be the wrong ones, or what captures is named
// otherwise by now. The reason of a lint, until it is merged with one that has a region.
const Reason& no_region();

// Adds the two above to the report's reasons, where they hold. What judges a report that somebody else wrote
// asks for them anew: a lost line must not turn it into a pass.
void add_missing_reasons(Report& report);

// Warnings count only under --fail-on warning. `audited`: 3 when the program's own error is the only reason.
ExitCode exit_code(const Report& report, Severity fail_on = Severity::error, bool audited = false);

}  // namespace capgate::reports
