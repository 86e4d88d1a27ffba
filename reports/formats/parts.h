// What the formats share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"

namespace capgate::reports::formats {

// What is not suppressed: causes in the report's order, which is that of importance, then their symptoms. A
// reader that shows ten of them shows ten things to change. What a baseline knows comes behind all that is
// new.
struct OpenFault {
  const Violation* fault;
  const Violation* cause;  // null: it counts by itself
};
std::vector<OpenFault> open_faults(const Report& report);

// The same with what is suppressed, in the same order.
std::vector<OpenFault> all_faults(const Report& report);

// Its message, cut where a generated name makes it huge, and for a symptom what it follows from.
std::string message_of(const OpenFault& open);

// "2 errors with 3 symptoms"
std::string counted_errors(const std::vector<OpenFault>& faults);

// The path as the formats write it: '/' between parts, without "./".
std::string path_of(const std::string& file);

// Text of a report of at most `most` characters.
inline constexpr size_t kLongest = 2000;
std::string cut(std::string_view text, size_t most = kLongest);

// "model/moe.py:212", the function where there is no file.
std::string place_of(const Location& location);

// "FAIL: CAPTURE DIES at …": what the report comes to, on one line.
std::string verdict_line(const Report& report);

// "Against main.json: 1 error new; 2 errors known; nothing fixed"; empty without a baseline.
std::string compared_line(const Report& report);

// "1 error", "3 errors"
std::string counted(size_t number, std::string_view noun);

}  // namespace capgate::reports::formats
