// Reports in the formats that CI systems read. All but SARIF leave out what is suppressed; a fault of a
// report keeps its id in each, so that a system recognises it in the next report.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "reports/model/report.h"

namespace capgate::reports {

// SARIF 2.1.0, within the limits of GitHub's code scanning.
std::string to_sarif(const Report& report);

// One test case per rule that the report's producers can find, and one for the verdict.
std::string to_junit(const Report& report);

// GitLab's Code Quality: what it shows beside the lines of a merge request.
std::string to_gitlab(const Report& report);

// Workflow commands for the log of a GitHub job: ten annotations, which is all that GitHub shows of a step.
std::string to_github(const Report& report);

// A comment for a review, or the summary of a job.
std::string to_markdown(const Report& report);

// "file:line:column: error: message [rule]", as compilers write it and editors read it.
std::string to_gcc(const Report& report);

// Whether a file that begins so is one that these functions wrote.
bool begins_like_export(std::string_view text);

struct Format {
  std::string_view name;
  std::string (*write)(const Report& report);
};
inline constexpr std::array<Format, 6> kFormats{{{"sarif", to_sarif},
                                                 {"junit", to_junit},
                                                 {"gitlab", to_gitlab},
                                                 {"github", to_github},
                                                 {"markdown", to_markdown},
                                                 {"gcc", to_gcc}}};

}  // namespace capgate::reports
