// What a project sets for `capgate lint` alone: the table [lint] of its `.capgate.toml`.
//
//   [lint]
//   exclude = ["third_party/*"]         # sources that are not linted, relative to the repository
//   require_regions = ["decode_step"]   # as --require-region
//   exclude_headers = ["generated/*"]   # headers in which no finding is reported
//   unproven = "warn"                   # as --unproven
//   [lint.severity]
//   "one-time-init" = "note"            # what the rule's errors and warnings are
//   [lint.assume]
//   "cfg.debug" = false                 # as --assume
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace capgate::reports {

struct LintChoices {
  std::vector<std::string> exclude, exclude_headers, require_regions;
  std::string unproven;                                         // "warn", "error" or empty
  std::vector<std::pair<std::string, std::string>> assume;      // name and value, as --assume takes them
  std::vector<std::pair<std::string, std::string>> severities;  // rule and severity, in words
  bool operator==(const LintChoices&) const = default;
};

// Of a text that parse_settings accepts; the error starts with source_name:line.
Result<LintChoices> parse_lint_choices(std::string_view text, std::string_view source_name);

// Of a file that find_settings has found; the defaults where it found none.
Result<LintChoices> read_lint_choices(const std::string& file);

}  // namespace capgate::reports
