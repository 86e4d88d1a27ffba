// Places in SARIF: locations, stacks, the way of a value.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "reports/model/report.h"

namespace capgate::reports::formats {

nlohmann::ordered_json sarif_location(const Location& location);

// All stacks of a finding, innermost frame first as in the report.
nlohmann::ordered_json sarif_stacks(const Violation& violation);

// The steps of a static finding as one code flow.
nlohmann::ordered_json sarif_flow(const Violation& violation);

// Where else to look: the user's frame of each stack that is not the call's.
nlohmann::ordered_json sarif_related(const Violation& violation);

}  // namespace capgate::reports::formats
