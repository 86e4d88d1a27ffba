// Reports on disk.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "reports/model/report.h"

namespace capgate::reports {

struct ReadReport {
  Report report;
  std::string digest;  // SHA-256 of the file's bytes
};

// "-" reads standard input. What is no regular file is refused, but for the pipes of a shell (`<(…)`).
Result<ReadReport> read_report(const std::string& path);

// Without the digest, for who only looks at it.
Result<Report> read_report_alone(const std::string& path);

// A reader sees the old file or the new one, never half of one. "-" writes to standard output.
Result<void> write_report(const Report& report, const std::string& path);

// Whether write_report would take the path: an existing file that is not a report is not overwritten.
Result<void> may_become_report(const std::string& path);

// Fails when writing `out` would cost one of the files that were read, under whatever name: nothing that was
// given to capgate is lost.
Result<void> spares(const std::string& out, const std::vector<std::string>& inputs);

// Both, and that there is a folder for it: what a command that takes long asks of its --out before it begins.
Result<void> check_output(const std::string& out, const std::vector<std::string>& inputs);

}  // namespace capgate::reports
