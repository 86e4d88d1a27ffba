#include "static_checks/driver/units_run.h"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "base/counted.h"
#include "static_checks/worker/pool.h"

namespace capgate::lint {
namespace {

constexpr int kMaxRounds = 4;  // units deep that a begin or an end may be wrapped

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

}  // namespace

UnitsRun::UnitsRun(const LintSettings& settings, const Plan& plan, std::map<std::string, Reply> known,
                   ReportBuilder& builder, Explained& explained)
    : settings_(settings),
      plan_(plan),
      known_(std::move(known)),
      builder_(builder),
      explained_(explained),
      cache_(settings.cache_dir, settings.cache_dir.empty() ? "" : program_identity(settings.worker)) {}

LintFigures UnitsRun::go() {
  figures_.units = plan_.units.size();
  replies_.resize(plan_.units.size());
  known_edges_.resize(plan_.units.size());
  std::vector<size_t> unknown;
  for (size_t i = 0; i < plan_.units.size(); ++i) {
    const UnitCommand& command = plan_.units[i];
    if (settings_.verbose && !command.dropped.empty())
      settings_.verbose(command.file + ": left out " + joined(command.dropped));
    if (const auto known = known_.find(command_key(command)); known != known_.end())
      finished(i, std::move(known->second));
    else
      unknown.push_back(i);
  }
  look_at(unknown);
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

void UnitsRun::look_at(const std::vector<size_t>& units) {
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

bool UnitsRun::explains() const {
  return !settings_.options.dump_tree.empty() || settings_.options.explain.line != 0;
}

bool UnitsRun::wants_more_than(const Reply& known) const {
  const std::string& name = settings_.options.dump_tree;
  const std::string spelled = name.substr(name.rfind(':') + 1);
  const auto is_named = [&](const FunctionExtent& function) { return function.name == spelled; };
  const auto is_file = [&](const InputFile& file) { return file.path == settings_.options.explain.file; };
  return (!name.empty() && std::any_of(known.functions.begin(), known.functions.end(), is_named)) ||
         (settings_.options.explain.line != 0 &&
          std::any_of(known.inputs.files.begin(), known.inputs.files.end(), is_file));
}

std::vector<size_t> UnitsRun::units_with_news() {
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

void UnitsRun::finished(size_t unit, Reply reply) {
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

void UnitsRun::count(const UnitCommand& command, const Reply& reply) {
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

}  // namespace capgate::lint
