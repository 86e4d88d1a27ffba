// Words for what a run's launches of graphs were watched for.
#pragma once

#include <string>

#include "reports/model/report.h"

namespace capgate::reports {

// "memory of 2 graphs at 160 launches, block by block"; empty where no graph was launched, or an older
// capgate did not say.
std::string what_was_watched(const Report& report);

// A block went whose address is inside a structure that a kernel was given: it may be a pointer or not.
bool is_uncertain_word(const Violation& violation);

// ". Watched: …. Verified: …", as the second line of a pass ends; empty where neither is known.
std::string what_was_seen(const Report& report);

}  // namespace capgate::reports
