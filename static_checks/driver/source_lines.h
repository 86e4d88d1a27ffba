// Lines of the user's sources, each file read once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reports/model/report.h"
#include "static_checks/model/finding.h"

namespace capgate::lint {

class SourceLines {
 public:
  // Empty where the file cannot be read.
  const std::vector<std::string>& of(const std::string& path);
  // What a report shows of the place: its line, and two before and after it.
  std::vector<reports::SourceLine> around(const Place& place);

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace capgate::lint
