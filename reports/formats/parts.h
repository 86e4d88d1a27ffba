// What the formats share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"

namespace capgate::reports::formats {

// Unsuppressed, in the report's order, which is that of importance.
std::vector<const Violation*> open_faults(const Report& report);

// The path as the formats write it: '/' between parts, without "./".
std::string path_of(const std::string& file);

// "model/moe.py:212", the function where there is no file.
std::string place_of(const Location& location);

// "FAIL: CAPTURE DIES at …": what the report comes to, on one line.
std::string verdict_line(const Report& report);

// "1 error", "3 errors"
std::string counted(size_t number, std::string_view noun);

}  // namespace capgate::reports::formats
