#include "engine/cli/verify/golden_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "engine/cli/arguments/devices.h"
#ifdef DSV4_CUDA
#include "engine/cuda/check/probed_engine.h"
#endif

namespace dsv4::cli {

using capgate::Error;

void add_golden_file(CLI::App& group, GoldenOptions& options) {
  group.add_option("--golden", options.file, "Golden file (scripts/golden/make_golden.py)");
}

void add_golden_options(CLI::App& command, GoldenOptions& options) {
  command.add_option("--case", options.one_case, "Only this case");
  command.add_option("--precision", options.precision, "float (default) or double")
      ->check(CLI::IsMember({"float", "double"}));
  add_device_option(command, options.device);
}

namespace {

capgate::Result<CaseReport> run_case(const GoldenFile& golden, const GoldenCase& one,
                                     const GoldenOptions& options) {
#ifdef DSV4_CUDA
  if (options.device == "cuda") return verify_case(golden, one, cuda::make_probed_engine);
#endif
  return verify_case(golden, one, options.precision == "double" ? Precision::kDouble : Precision::kFloat);
}

}  // namespace

capgate::Result<bool> run_golden(const GoldenOptions& options,
                                 const std::function<bool(const CaseReport&)>& show) {
  if (options.device == "cuda" && options.precision == "double")
    return Error{"--precision double is the CPU reference's alone"};
  const auto golden = GoldenFile::open(options.file);
  if (!golden) return Error{golden.error()};
  fmt::print("golden values: {}\n", golden->origin());
  bool good = true, any = false;
  for (const auto& one : golden->cases()) {
    if (!options.one_case.empty() && one.name != options.one_case) continue;
    any = true;
    const auto report = run_case(*golden, one, options);
    if (!report) return Error{report.error()};
    good = show(*report) && good;
  }
  if (!any) return Error{fmt::format("{}: there is no case \"{}\"", options.file, options.one_case)};
  return good;
}

}  // namespace dsv4::cli
