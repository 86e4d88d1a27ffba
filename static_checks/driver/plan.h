// Which units a run looks at.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "static_checks/commands/unit_command.h"
#include "static_checks/driver/settings.h"

namespace capgate::lint {

// A file that was asked for and cannot be looked at.
struct Unreachable {
  std::string file;
  std::string text;  // why: one clause
  std::string remedy;
};

struct Plan {
  std::vector<UnitCommand> units;        // in the database's order, none twice
  std::vector<Unreachable> unreachable;  // each makes the run inconclusive
  // Headers that were asked for: of the units that are there only for them, nothing else is reported.
  std::set<std::string> headers;
  std::set<std::string> only_for_headers;  // main files of those units
  std::vector<std::string> not_sources;    // entries of the database in other languages
};

// The error is a sentence for wrong usage: no database, a malformed one, a file that does not exist.
Result<Plan> make_plan(const LintSettings& settings);

}  // namespace capgate::lint
