// Parses one unit and judges the parser's errors by where they are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "static_checks/commands/unit_command.h"
#include "static_checks/frontend/function_extent.h"
#include "static_checks/frontend/incomplete.h"
#include "static_checks/frontend/unit.h"

namespace capgate::lint {

struct ParsedUnit {
  std::unique_ptr<Unit> unit;
  std::vector<FunctionExtent> functions;
  std::vector<Incomplete> incomplete;
  uint64_t errors_in_device_code = 0;  // left aside: clang is no judge of device code
  uint64_t errors_in_foreign_code =
      0;  // left aside: bodies of the toolkit and of system headers are not judged
};

struct ParseSettings {
  std::string resource_dir;  // clang's own headers
};

// Runs on the calling thread, in the current folder; needs a stack that grows (worker/main.cpp). The error is
// the reason why there is no unit at all.
Result<ParsedUnit> parse_unit(const UnitCommand& command, const ParseSettings& settings);

}  // namespace capgate::lint
