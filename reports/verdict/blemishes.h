// What a pass has against it all the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "reports/model/report.h"
#include "reports/verdict/claims.h"

namespace capgate::reports {

// Errors that a baseline knows: a pass with them is one of nothing new.
uint64_t known_errors(const Report& report);

// "2 known errors, 1 warning, 2 notes, 1 allowed fault"; empty for a pass without a blemish.
std::string blemishes(const Report& report);

// Of a pass with known errors: what they leave unproved.
std::optional<NotProved> left_by_known_errors(const Report& report);

}  // namespace capgate::reports
