// capgate analyze: judges sealed traces again, on any machine.
#include "detector/analysis/analyze.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "cli/commands.h"
#include "detector/seal/sealed_file.h"
#include "reports/model/report_file.h"
#include "reports/model/verdict.h"

namespace capgate::cli {
namespace {

struct Options {
  std::vector<std::string> traces;
  std::string out = "-";
  std::string fail_on = "error";
};

int run(const Options& options) {
  int code = kExitPass;
  if (options.traces.size() > 1 && options.out != "-") {
    complain(
        "--out takes the report of one trace; give one trace, or leave --out away and read the reports from "
        "the output");
    return kExitInconclusive;
  }
  // Every trace is judged, whatever the others say; the gravest answer is the exit code.
  const auto graver = [](int a, int b) {
    const auto weight = [](int c) { return c == kExitFail ? 2 : c == kExitPass ? 0 : 1; };
    return weight(b) > weight(a) ? b : a;
  };
  bool unreadable = false;
  for (const auto& path : options.traces) {
    auto trace = seal::read_sealed(path);
    if (!trace) {
      complain(trace.error());
      unreadable = true;
      continue;
    }
    const reports::Report report = analysis::analyze(*trace);
    if (const auto written = reports::write_report(report, options.out); !written) {
      complain(written.error());
      return kExitInconclusive;
    }
    const auto fail_on = options.fail_on == "warning" ? reports::Severity::warning : reports::Severity::error;
    code = graver(code, reports::exit_code(report, fail_on, false));
  }
  return unreadable ? kExitInconclusive : code;
}

}  // namespace

void register_analyze(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("analyze", "Judge a sealed trace again: the same report on any machine");
  command->add_option("TRACE", options->traces, "Sealed traces (.cgtrace) that capgate audit left")
      ->required();
  command->add_option("--out", options->out, "Where the report goes, - for standard output")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_option("--fail-on", options->fail_on, "What gives exit code 1")
      ->check(CLI::IsMember({"error", "warning"}))
      ->capture_default_str();
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace capgate::cli
