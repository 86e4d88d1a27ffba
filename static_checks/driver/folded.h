// Findings with one cause are one entry, with the number and the places of the others.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "reports/model/report.h"
#include "static_checks/model/finding.h"

namespace capgate::lint {

// Of the warnings behind the same test, only the first stays.
void fold_by_test(reports::Report& report);

// Of the findings that the body of one macro makes, as details["macro"] says, only the first stays: those of
// one rule and severity, behind tests of the same words.
void fold_by_macro(reports::Report& report);

// Macros of the user's files, and which of them a finding's call stands in.
class Macros {
 public:
  using Lines = std::function<const std::vector<std::string>&(const std::string& file)>;
  Macros(const std::set<std::string>& files, Lines lines) : files_(files), lines_(std::move(lines)) {}

  // The macro that is used at the finding's place and whose own text makes the call; empty: there is none, or
  // the call stands among the macro's arguments.
  std::string around(const Finding& finding);

 private:
  bool is_defined(const std::string& name);

  const std::set<std::string>& files_;
  Lines lines_;
  std::set<std::string> defined_;
  bool known_ = false;
};

}  // namespace capgate::lint
