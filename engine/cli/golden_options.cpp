#include "engine/cli/golden_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace dsv4::cli {

using capgate::Error;

void add_golden_options(CLI::App& command, GoldenOptions& options) {
  command.add_option("--golden", options.file, "Golden file (scripts/golden/make_golden.py)")->required();
  command.add_option("--case", options.one_case, "Only this case");
  command.add_option("--precision", options.precision, "float (default) or double")
      ->check(CLI::IsMember({"float", "double"}));
}

capgate::Result<bool> run_golden(const GoldenOptions& options,
                                 const std::function<bool(const CaseReport&)>& show) {
  const auto golden = GoldenFile::open(options.file);
  if (!golden) return Error{golden.error()};
  fmt::print("golden values: {}\n", golden->origin());
  bool good = true, any = false;
  for (const auto& one : golden->cases()) {
    if (!options.one_case.empty() && one.name != options.one_case) continue;
    any = true;
    const auto report =
        verify_case(*golden, one, options.precision == "double" ? Precision::kDouble : Precision::kFloat);
    if (!report) return Error{report.error()};
    good = show(*report) && good;
  }
  if (!any) return Error{fmt::format("{}: there is no case \"{}\"", options.file, options.one_case)};
  return good;
}

}  // namespace dsv4::cli
