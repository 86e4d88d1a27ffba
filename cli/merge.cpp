// capgate merge: several reports on one program become one.
#include "reports/merge/merge.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/exit_code.h"
#include "base/files/read_text.h"
#include "cli/commands.h"
#include "cli/registered_commands.h"
#include "reports/files/report_file.h"
#include "reports/json/json.h"
#include "reports/terminal/terminal.h"

namespace capgate::cli {
namespace {

struct MergeOptions {
  std::vector<std::string> reports;
  std::string out = "-";
};

Result<void> run(const MergeOptions& options) {
  std::vector<reports::MergeInput> inputs;
  for (const auto& path : options.reports) {
    auto read = reports::read_report(path);
    if (!read) return Error{read.error()};
    inputs.push_back({std::move(read->report), path, std::move(read->digest)});
  }
  const auto merged = reports::merge(std::move(inputs), CAPGATE_VERSION);
  if (!merged) return Error{merged.error()};
  if (auto spared = reports::spares(options.out, options.reports); !spared) {
    const auto there = read_text(options.out);
    if (options.out == "-" || !there || *there != reports::to_json(*merged)) return spared;
  } else if (auto written = reports::write_report(*merged, options.out); !written) {
    return written;
  }
  reports::TerminalOptions view;
  view.color = use_color(STDERR_FILENO);
  std::fputs(reports::render_headline(*merged, view).c_str(), stderr);
  return {};
}

}  // namespace

void register_merge(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<MergeOptions>();
  auto* command =
      app.add_subcommand("merge", "Combine reports into one; a fault that two of them found is listed once");
  command->add_option("REPORTS", options->reports, "The reports' files; - reads standard input")
      ->required()
      ->type_name("");
  command
      ->add_option("--out", options->out,
                   "Where the merged report goes; default -, standard output. No input is overwritten")
      ->type_name("FILE");
  command->callback([options, &exit_code] {
    const auto done = run(*options);
    if (!done) complain(done.error());
    exit_code = done ? kExitPass : kExitInconclusive;
  });
}

}  // namespace capgate::cli
