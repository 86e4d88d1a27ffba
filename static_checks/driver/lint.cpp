#include "static_checks/driver/lint.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>

#include "base/glob.h"
#include "reports/catalogue/catalogue.h"
#include "reports/settings/lint_choices.h"
#include "reports/settings/settings.h"
#include "reports/verdict/finish.h"
#include "static_checks/changes/changes.h"
#include "static_checks/commands/files.h"
#include "static_checks/driver/build_actions.h"
#include "static_checks/driver/plan.h"
#include "static_checks/driver/report_builder.h"
#include "static_checks/driver/units_run.h"

namespace capgate::lint {
namespace {

Result<std::vector<reports::FileSuppression>> suppression_entries(const LintSettings& settings,
                                                                  const reports::Settings& project) {
  const std::string& path = settings.suppressions.empty() ? project.suppressions : settings.suppressions;
  if (path.empty()) return std::vector<reports::FileSuppression>{};
  return reports::read_suppressions(path);
}

// What a person calls that which was linted: "kernels", "a.cu, b.cu and 3 more", "the sources of build".
std::string subject_of(const LintSettings& settings, const std::string& root) {
  constexpr size_t kNamed = 2;
  if (settings.files.empty())
    return "the sources of " + (settings.build.empty() ? file_name(root) : settings.build);
  std::string text;
  for (size_t i = 0; i < std::min(settings.files.size(), kNamed); ++i)
    text += (i == 0 ? "" : ", ") + settings.files[i];
  if (settings.files.size() > kNamed)
    text += " and " + std::to_string(settings.files.size() - kNamed) + " more";
  return text;
}

// What the project says of every lint, beside the command line.
Result<void> add_project(const reports::Settings& project, LintSettings& settings, Plan& plan) {
  const Result<reports::LintChoices> read = reports::read_lint_choices(project.file);
  if (!read) return Error{read.error()};
  const reports::LintChoices& choices = *read;
  for (const auto& [name, value] : choices.assume) {
    Result<Assumption> made = read_assumption(name, value, project.file);
    if (!made) return Error{made.error()};
    settings.assumptions.push_back(std::move(*made));
  }
  settings.required.insert(settings.required.end(), choices.require_regions.begin(),
                           choices.require_regions.end());
  if (settings.unproven.empty()) settings.unproven = choices.unproven;
  settings.exclude_headers = choices.exclude_headers;
  for (const auto& [rule, severity] : choices.severities) {
    if (!reports::find_rule(rule))
      return Error{project.file + ": lint.severity names no rule: " + rule + " (capgate rules lists them)"};
    settings.severities[rule] = severity == "error"     ? reports::Severity::error
                                : severity == "warning" ? reports::Severity::warning
                                                        : reports::Severity::note;
  }
  const std::string& root = project.repository_root;
  std::erase_if(plan.units, [&](const UnitCommand& unit) {
    const std::string shown =
        unit.file.starts_with(root + '/') ? unit.file.substr(root.size() + 1) : unit.file;
    return std::any_of(choices.exclude.begin(), choices.exclude.end(),
                       [&](const std::string& glob) { return glob_match(glob, shown); });
  });
  return {};
}

}  // namespace

Result<LintRun> run_lint(const LintSettings& asked) {
  const auto start = std::chrono::steady_clock::now();
  LintSettings settings = asked;
  std::map<std::string, Reply> known;
  Plan plan_of_summaries;
  if (!settings.summaries.empty()) {
    Result<Summaries> read = read_summaries(settings);
    if (!read) return Error{read.error()};
    plan_of_summaries = std::move(read->plan);
    known = std::move(read->replies);
    settings.options = std::move(read->options);
  }
  Result<Plan> plan = settings.summaries.empty() ? make_plan(settings) : std::move(plan_of_summaries);
  if (!plan) return Error{plan.error()};

  const std::string first =
      plan->units.empty() ? canonical_path(current_directory()) : plan->units.front().root;
  const Result<reports::Settings> project = reports::find_settings(first);
  if (!project) return Error{project.error()};
  if (const Result<void> added = add_project(*project, settings, *plan); !added) return Error{added.error()};
  const Result<std::vector<reports::FileSuppression>> entries = suppression_entries(settings, *project);
  if (!entries) return Error{entries.error()};
  std::string root = settings.root.empty() ? project->repository_root : canonical_path(settings.root);
  if (root.empty()) root = first;

  std::optional<Changes> changes;
  if (!settings.changed_since.empty()) {
    Result<Changes> found = Changes::since(settings.changed_since, root);
    if (!found) return Error{found.error()};
    changes = std::move(*found);
  }

  ReportBuilder builder(settings, *plan, root);
  builder.accept(*entries);
  for (const Unreachable& file : plan->unreachable) builder.add_unreachable(file);
  LintRun run;
  run.root = root;
  run.figures = UnitsRun(settings, *plan, std::move(known), builder, run.explained).go();
  const LinkResult links = link_units(builder.summaries());
  run.explained.add(links);
  builder.add_links(links);
  if (changes || settings.verbose) {
    RegionReach reach = reach_of_regions(builder.summaries());
    run.figures.calls = reach.calls;
    run.figures.foreign_calls = reach.foreign_calls;
    run.figures.calls_not_analysed = builder.calls_not_analysed(links);
    builder.add_reach(std::move(reach));
  }
  run.report = builder.finish(*entries, changes);
  run.report.run.emplace();
  run.report.run->argv = settings.argv;
  run.report.subject.more["sources"] = subject_of(settings, root);
  run.report.run->wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  reports::finish(run.report);
  return run;
}

Result<std::string> find_worker() {
  const std::string self = canonical_path("/proc/self/exe");
  const std::string folder = parent_directory(self);
  const std::string beside = folder + "/capgate-lint-worker";
  const std::string installed = parent_directory(folder) + "/libexec/capgate/capgate-lint-worker";
  for (const std::string& path : {beside, installed})
    if (access(path.c_str(), X_OK) == 0) return path;
  return Error{"the program that parses is missing: neither " + beside + " nor " + installed +
               " is there; it is in the lint archive of your distribution"};
}

std::string default_resource_dir() {
  return CAPGATE_CLANG_RESOURCE_DIR;
}

}  // namespace capgate::lint
