// What a report's evidence is of: graphs, eager steps, sources.
#pragma once

#include "reports/model/report.h"

namespace capgate::reports {

// A program was run and watched.
bool ran(const Report& report);

// Sources were read.
bool linted(const Report& report);

// Capture::mode of a graph that was built node by node, and launched.
inline constexpr const char* kBuiltMode = "built";

// A graph was captured, or was built node by node and launched.
bool has_graph(const Report& report);

// Graphs were launched that has_graph() does not speak of: the run did not see what they hold.
bool launched_unseen_graphs(const Report& report);

// A marked step was seen run eagerly, and there was no graph: nothing shows that the step captures.
bool is_eager_alone(const Report& report);

}  // namespace capgate::reports
