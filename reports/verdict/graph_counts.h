// How many graphs a run made and launched. A capture is no graph of its own where it goes into another's, as
// the body of a conditional node does, or where it only updates an executable.
#pragma once

#include <string>

#include "reports/model/report.h"

namespace capgate::reports {

// False where the launched graphs are known not to be the completed captures, one each.
bool each_capture_is_a_graph(const Report& report);

// "2 graphs captured"; "14 captures completed"; "1 graph built node by node".
std::string graphs_of(const Report& report);

// "4 executable graphs"; "graphs" where their number is not known.
std::string executables_of(const Report& report);

}  // namespace capgate::reports
