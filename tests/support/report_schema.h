#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace capgate::test {

// How the document departs from the published schema of reports, one line for each place; empty when it
// follows it.
std::string departures_from_schema(const nlohmann::json& report);

}  // namespace capgate::test
