// clang's own look at one unit: the yardstick of the benchmark.
#pragma once

#include <string>

#include "base/result.h"
#include "static_checks/commands/unit_command.h"

namespace capgate::lint::bench {

struct CompilerRun {
  double wall_s = 0;
  double cpu_s = 0;  // user and system time of the process and its children
  uint64_t peak_kib = 0;
};

// `clang -fsyntax-only` with the arguments that the worker gives libclang, the shim's headers written below
// `folder`.
Result<CompilerRun> run_compiler(const std::string& clang, const UnitCommand& command,
                                 const std::string& resource_dir, const std::string& folder);

}  // namespace capgate::lint::bench
