// What verify and compare have in common: a golden file and which of its cases to run.
#pragma once

#include <functional>
#include <string>

#include "engine/verify/verify_case.h"

namespace CLI {
class App;
}

namespace dsv4::cli {

struct GoldenOptions {
  std::string file, one_case, precision = "float", device = "cpu";
};

void add_golden_file(CLI::App& group, GoldenOptions& options);
// Which case, precision and device.
void add_golden_options(CLI::App& command, GoldenOptions& options);

// Runs the chosen cases and shows each report; false if `show` said so for any.
capgate::Result<bool> run_golden(const GoldenOptions& options,
                                 const std::function<bool(const CaseReport&)>& show);

}  // namespace dsv4::cli
