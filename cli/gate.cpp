// capgate gate: the verdict as an exit code and a few lines.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/exit_code.h"
#include "base/files/read_text.h"
#include "base/files/write_text.h"
#include "cli/commands.h"
#include "reports/baseline/compare.h"
#include "reports/baseline/read.h"
#include "reports/files/report_file.h"
#include "reports/model/names.h"
#include "reports/ratchet/metrics.h"
#include "reports/terminal/gate_lines.h"

namespace capgate::cli {
namespace {

struct GateOptions {
  std::string report, baseline, metrics, no_worse_than, owner, until;
  std::string suppressions;  // is refused
  std::string fail_on = "error";
  bool allow_eager = false, update_baseline = false, add_nothing = false;
  std::string require;
  std::vector<std::string> buckets;
};

// Empty: it can be required.
std::string wrong_requirement(const std::string& what) {
  if (what == "replay" || what == "replay=compared") return "";
  return "\"" + what + "\" cannot be required; require replay or replay=compared";
}

// A file that somebody made for the baseline to come is empty.
bool holds_something(const std::string& path) {
  std::error_code ec;
  return std::filesystem::exists(path, ec) &&
         (!std::filesystem::is_regular_file(path, ec) || std::filesystem::file_size(path, ec) > 0);
}

// A file of another kind that was named by mistake is not lost.
Result<void> write_metrics(const reports::Metrics& metrics, const GateOptions& options) {
  const std::string& path = options.metrics;
  if (auto spared = reports::spares(path, {options.report, options.baseline, options.no_worse_than}); !spared)
    return Error{"--metrics: " + spared.error()};
  std::error_code ec;
  if (path != "-" && std::filesystem::is_regular_file(path, ec) && std::filesystem::file_size(path, ec) > 0) {
    const auto there = read_text(path);
    if (!there || !reports::is_metrics(*there))
      return Error{"--metrics " + path + ": is not a file of metrics; refusing to overwrite it"};
  }
  return write_text(reports::to_json(metrics), path);
}

// What the baseline file is to hold from now on, which is written.
Result<reports::Baseline> updated(const GateOptions& options, const reports::Report& report, FILE* words) {
  if (options.baseline == "-") return Error{"--update-baseline: --baseline names a file, not standard input"};
  reports::Baseline before;
  if (holds_something(options.baseline)) {
    auto read = reports::read_baseline(options.baseline);
    if (!read) return Error{read.error()};
    if (read->is_report)
      return Error{options.baseline +
                   ": is a report; --update-baseline writes a baseline file and does not overwrite reports"};
    before = std::move(*read);
  }
  reports::BaselineEntry fresh;
  fresh.owner = options.owner;
  fresh.until = options.until;
  const auto update =
      reports::update_baseline(before.entries, report, fresh, reports::today(),
                               options.add_nothing ? reports::Unlisted::leave_out : reports::Unlisted::add);
  if (auto written = write_text(reports::baseline_text(update.entries), options.baseline); !written)
    return Error{written.error()};
  std::fputs(reports::update_line(options.baseline, update).c_str(), words);
  return reports::read_baseline(options.baseline);
}

Result<int> run(const GateOptions& options) {
  if (!options.suppressions.empty())
    return Error{
        "--suppressions: is for what makes the report: capgate audit, collect or lint --suppressions FILE; "
        "gate takes faults to fix later as --baseline FILE"};
  auto read = reports::read_report(options.report);
  if (!read) return Error{read.error()};
  reports::Report& report = read->report;
  FILE* const words = options.metrics == "-" ? stderr : stdout;
  reports::TerminalOptions view;
  view.color = use_color(fileno(words));
  reports::GateOptions gate;
  gate.fail_on = reports::named<reports::Severity>(options.fail_on).value_or(reports::Severity::error);
  gate.allow_eager = options.allow_eager;
  gate.require_replay = options.require == "replay";
  gate.require_compared = options.require == "replay=compared";
  gate.buckets = options.buckets;
  gate.report_name = options.report;
  gate.baseline_name = options.baseline;
  const auto metrics = reports::metrics_of(report);
  if (!options.no_worse_than.empty()) {
    const auto text = read_text(options.no_worse_than);
    if (!text) return Error{text.error()};
    const auto before = reports::metrics_from(*text, options.no_worse_than);
    if (!before) return Error{before.error()};
    gate.ratchet = reports::compare_metrics(metrics, *before, options.no_worse_than);
  }
  Result<reports::Baseline> baseline{reports::Baseline{}};
  reports::BaselineComparison comparison;
  if (!options.baseline.empty()) {
    baseline =
        options.update_baseline ? updated(options, report, words) : reports::read_baseline(options.baseline);
    if (!baseline) return Error{baseline.error()};
    comparison = reports::compare_with_baseline(report, baseline->report, options.baseline);
    gate.ended = reports::ended(*baseline, report);
    gate.baseline_is_report = baseline->is_report;
  }
  if (!options.metrics.empty())
    if (auto written = write_metrics(metrics, options); !written) return Error{written.error()};
  const auto decision = reports::decide(report, gate, comparison, view);
  std::fputs(decision.text.c_str(), words);
  return decision.exit_code;
}

void add_baseline(CLI::App& command, GateOptions& options) {
  auto* baseline =
      command
          .add_option("--baseline", options.baseline,
                      "An older report, or a baseline file: only findings that it does not have can fail")
          ->type_name("FILE");
  auto* update = command
                     .add_flag("--update-baseline", options.update_baseline,
                               "Rewrite the baseline file to hold exactly the findings of REPORT")
                     ->needs(baseline);
  auto* add_nothing =
      command
          .add_flag("--add-nothing", options.add_nothing,
                    "With --update-baseline: drop what is gone and, with --until, extend what has ended; "
                    "accept no other finding")
          ->needs(update);
  command.add_option("--owner", options.owner, "With --update-baseline: who owns the faults that are added")
      ->type_name("NAME")
      ->needs(update)
      ->excludes(add_nothing)
      ->check(reports::wrong_owner, "");
  command
      .add_option("--until", options.until,
                  "With --update-baseline: the last day, such as 2027-01-31, on which faults are accepted "
                  "that are added "
                  "or whose line has ended")
      ->type_name("DATE")
      ->needs(update)
      ->check([](const std::string& date) { return reports::wrong_end(date); }, "");
}

}  // namespace

void register_gate(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<GateOptions>();
  auto* command =
      app.add_subcommand("gate", "Turn a report into an exit code: 0 pass, 1 fail, 2 inconclusive");
  command->add_option("REPORT", options->report, "The report's file; - reads standard input")
      ->required()
      ->type_name("");
  add_baseline(*command, *options);
  command
      ->add_option(
          "--no-worse-than", options->no_worse_than,
          "A file that --metrics wrote, or an older report: also fail if one of its numbers got worse")
      ->type_name("FILE");
  command
      ->add_option("--metrics", options->metrics,
                   "Write the report's numbers to this file, one flat JSON object; - is standard output")
      ->type_name("FILE");
  command->add_option("--suppressions", options->suppressions)->group("");  // somebody looks for it here
  add_fail_on(*command, options->fail_on);
  command->add_flag("--allow-eager", options->allow_eager,
                    "Pass on a marked step that ran eagerly, although no graph was ever captured");
  auto* require =
      command
          ->add_option("--require", options->require,
                       "replay: pass only if verify_replay ran in the audited program for every graph "
                       "that it launched, and found the eager results; replay=compared: or if the nodes of "
                       "each were compared with three eager steps, which is weaker")
          ->type_name("WHAT")
          ->check(wrong_requirement, "");
  command
      ->add_option("--bucket", options->buckets, "With --require: only the graphs of this bucket; repeatable")
      ->type_name("NAME")
      ->needs(require);
  command->callback([options, &exit_code] {
    const auto decided = run(*options);
    if (!decided) complain(decided.error());
    exit_code = decided ? *decided : static_cast<int>(kExitInconclusive);
  });
}

}  // namespace capgate::cli
