// Which headers of the project a unit includes, found from the text alone: without macros, and every branch
// of an #if taken. Too many rather than too few; used to choose units before anything is parsed.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "static_checks/commands/unit_command.h"

namespace capgate::lint {

class IncludeScanner {
 public:
  // Canonical paths of the headers that the unit reaches in its own folders, nested ones too; without the
  // toolkit's.
  std::set<std::string> headers_of(const UnitCommand& unit);

 private:
  struct Include {
    std::string name;
    bool quoted;
  };
  const std::vector<Include>& includes_in(const std::string& path);
  std::string resolve(const Include& include, const std::string& folder,
                      const std::vector<std::string>& dirs);
  bool exists(const std::string& path);

  std::map<std::string, std::vector<Include>> includes_;
  std::map<std::string, bool> exists_;
};

}  // namespace capgate::lint
