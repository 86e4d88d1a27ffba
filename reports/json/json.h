// The report as JSON: reports/schema/capgate-report-1.schema.json, keys in a fixed order, byte for byte the
// same for the same report.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "reports/model/report.h"

namespace capgate::reports {

// Ends with a newline. Bytes that are no UTF-8 become U+FFFD; a number that is not finite is written as 0.
std::string to_json(const Report& report);

// Never crashes, whatever the text. The error starts with `source_name` and says what is wrong and at which
// key.
Result<Report> from_json(std::string_view text, std::string_view source_name);

// The same without holding the text. Nothing when anything is wrong with it: the other one says what.
std::optional<Report> from_json(std::istream& text);

// The schema that a JSON text names, whatever its version; empty when it is no JSON object or names none.
std::optional<std::string> schema_of(std::string_view text);

}  // namespace capgate::reports
