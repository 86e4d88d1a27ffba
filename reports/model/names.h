// The words that the JSON and the command line use for the model's enumerations.
#pragma once

#include <optional>
#include <string_view>

#include "reports/model/report.h"

namespace capgate::reports {

std::string_view name(Verdict verdict);
std::string_view name(Severity severity);
std::string_view name(Phase phase);

std::optional<Verdict> verdict_named(std::string_view word);
std::optional<Severity> severity_named(std::string_view word);
std::optional<Phase> phase_named(std::string_view word);

}  // namespace capgate::reports
