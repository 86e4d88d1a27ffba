#include "static_checks/driver/lint.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>

#include "base/counted.h"
#include "base/glob.h"
#include "reports/settings/lint_choices.h"
#include "reports/settings/settings.h"
#include "reports/verdict/finish.h"
#include "static_checks/cache/cache.h"
#include "static_checks/commands/files.h"
#include "static_checks/driver/changes.h"
#include "static_checks/driver/plan.h"
#include "static_checks/driver/report_builder.h"
#include "static_checks/worker/pool.h"

namespace capgate::lint {
namespace {

unsigned usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

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

class Run {
 public:
  Run(const LintSettings& settings, const Plan& plan, ReportBuilder& builder, Explained& explained)
      : settings_(settings),
        plan_(plan),
        builder_(builder),
        explained_(explained),
        cache_(settings.cache_dir, settings.cache_dir.empty() ? "" : program_identity(settings.worker)) {}

  LintFigures go() {
    figures_.units = plan_.units.size();
    replies_.resize(plan_.units.size());
    known_edges_.resize(plan_.units.size());
    std::vector<size_t> all;
    for (size_t i = 0; i < plan_.units.size(); ++i) {
      const UnitCommand& command = plan_.units[i];
      if (settings_.verbose && !command.dropped.empty())
        settings_.verbose(command.file + ": left out " + joined(command.dropped));
      all.push_back(i);
    }
    look_at(all);
    // Where a function of one unit begins or ends a region for its callers in another, these are looked at
    // again with that known; a caller may in turn be such a function.
    for (int round = 0; round < kMaxRounds; ++round) {
      const std::vector<size_t> again = units_with_news();
      if (again.empty()) break;
      look_at(again);
    }
    if (looked_) cache_.prune();
    // In the plan's order, so that the report does not depend on which worker was faster.
    for (size_t i = 0; i < plan_.units.size(); ++i)
      if (replies_[i]) {
        explained_.add(plan_.units[i].file, replies_[i]->result);
        builder_.add_unit(plan_.units[i], std::move(*replies_[i]));
      }
    return figures_;
  }

 private:
  static constexpr int kMaxRounds = 4;  // units deep that a begin or an end may be wrapped

  void look_at(const std::vector<size_t>& units) {
    std::vector<Job> jobs;
    std::vector<size_t> missing;
    for (const size_t i : units) {
      Job job{plan_.units[i], settings_.options,
              settings_.resource_dir.empty() ? default_resource_dir() : settings_.resource_dir};
      job.options.edges = known_edges_[i];
      job.options.dump_tree.clear();
      job.options.explain = {};
      if (std::optional<Reply> known = cache_.find(job); known && !wants_more_than(*known)) {
        if (!replies_[i]) ++figures_.cached;
        finished(i, std::move(*known));
      } else {
        job.options.dump_tree = settings_.options.dump_tree;
        job.options.explain = settings_.options.explain;
        jobs.push_back(std::move(job));
        missing.push_back(i);
      }
    }
    const PoolSettings pool{settings_.worker, settings_.jobs ? settings_.jobs : usable_cores(),
                            settings_.timeout_s};
    run_jobs(jobs, pool, [&](size_t job, Reply reply) {
      if (!explains()) cache_.keep(jobs[job], reply);
      count(jobs[job].command, reply);
      finished(missing[job], std::move(reply));
      return true;
    });
    looked_ = looked_ || !jobs.empty();
  }

  bool explains() const {
    return !settings_.options.dump_tree.empty() || settings_.options.explain.line != 0;
  }

  // Whether the unit may hold what is to be explained; a result that was kept says nothing of it.
  bool wants_more_than(const Reply& known) const {
    const std::string& name = settings_.options.dump_tree;
    const std::string spelled = name.substr(name.rfind(':') + 1);
    const auto is_named = [&](const FunctionExtent& function) { return function.name == spelled; };
    const auto is_file = [&](const InputFile& file) { return file.path == settings_.options.explain.file; };
    return (!name.empty() && std::any_of(known.functions.begin(), known.functions.end(), is_named)) ||
           (settings_.options.explain.line != 0 &&
            std::any_of(known.inputs.files.begin(), known.inputs.files.end(), is_file));
  }

  // Units that call a function of another unit of which more is known now than when they were looked at.
  std::vector<size_t> units_with_news() {
    std::map<std::string, CaptureEdge> edges;
    for (const std::optional<Reply>& reply : replies_)
      if (reply)
        for (const CaptureEdge& edge : reply->result.summary.edges) edges[edge.usr] = edge;
    std::vector<size_t> units;
    for (size_t i = 0; i < replies_.size() && !edges.empty(); ++i) {
      if (!replies_[i]) continue;
      std::vector<CaptureEdge> wanted = edges_that_concern(replies_[i]->result.summary, edges);
      if (wanted == known_edges_[i]) continue;
      known_edges_[i] = std::move(wanted);
      units.push_back(i);
    }
    return units;
  }

  void finished(size_t unit, Reply reply) {
    // Of the inputs, thousands a unit, only the user's files are asked for again.
    Inputs& inputs = reply.inputs;
    std::erase_if(inputs.files, [](const InputFile& file) { return !file.user; });
    inputs.earlier = {};
    inputs.names = {};
    inputs.shadowed = {};
    const bool first = !replies_[unit];
    replies_[unit] = std::move(reply);
    if (first && settings_.progress)
      settings_.progress(++finished_, plan_.units.size(), plan_.units[unit].file);
  }

  void count(const UnitCommand& command, const Reply& reply) {
    figures_.parse_s += reply.parse_s;
    figures_.analysis_s += reply.analysis_s;
    figures_.other_s += reply.other_s;
    figures_.analysis_cpu_s += reply.analysis_cpu_s;
    figures_.peak_kib = std::max(figures_.peak_kib, reply.peak_kib);
    if (!settings_.verbose) return;
    const auto note = [&](uint64_t number, const char* where) {
      if (number)
        settings_.verbose(command.file + ": " + counted(number, "error") + " of the parser in " + where);
    };
    note(reply.errors_in_device_code, "device code, which is not judged");
    note(reply.errors_in_foreign_code, "headers that are not the project's");
  }

  const LintSettings& settings_;
  const Plan& plan_;
  ReportBuilder& builder_;
  Explained& explained_;
  Cache cache_;
  LintFigures figures_;
  std::vector<std::optional<Reply>> replies_;          // by unit
  std::vector<std::vector<CaptureEdge>> known_edges_;  // the same: what it was looked at with
  size_t finished_ = 0;
  bool looked_ = false;  // some result was not in the cache
};

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
  Result<Plan> plan = make_plan(settings);
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
  run.figures = Run(settings, *plan, builder, run.explained).go();
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
