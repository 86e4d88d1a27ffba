// Reports on disk.
#pragma once

#include <string>

#include "base/result.h"
#include "reports/model/report.h"

namespace capgate::reports {

struct ReadReport {
  Report report;
  std::string digest;  // SHA-256 of the file's bytes
};

// "-" reads standard input.
Result<ReadReport> read_report(const std::string& path);

// A reader sees the old file or the new one, never half of one. "-" writes to standard output.
Result<void> write_report(const Report& report, const std::string& path);

// The same for any text.
Result<std::string> read_text(const std::string& path);
Result<void> write_text(const std::string& text, const std::string& path);

}  // namespace capgate::reports
