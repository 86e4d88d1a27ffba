#include "static_checks/driver/build_actions.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/files/read_text.h"
#include "base/files/write_text.h"
#include "static_checks/cache/cache.h"
#include "static_checks/commands/files.h"
#include "static_checks/driver/lint.h"
#include "static_checks/worker/pool.h"

namespace capgate::lint {
namespace {

constexpr std::string_view kMagic = "capgate-lint-summary-1\n";

struct SummaryFile {
  std::string build;  // of the worker that wrote it: the form has no versions
  Job job;
  Reply reply;
};
template <class A>
void fields(A& archive, SummaryFile& v) {
  archive(v.build, v.job, v.reply);
}

// A path in a dependency file.
std::string escaped(const std::string& path) {
  std::string text;
  for (const char c : path) {
    if (c == ' ' || c == '#' || c == '\\') text += '\\';
    if (c == '$') text += '$';
    text += c;
  }
  return text;
}

std::string dependencies(const std::string& out, const Inputs& inputs) {
  std::string text = escaped(out) + ":";
  for (const InputFile& file : inputs.files) text += " \\\n  " + escaped(file.path);
  return text + "\n";
}

// Nothing is overwritten but what an earlier run has left there.
Result<void> may_replace(const std::string& path, std::string_view begins_with) {
  if (!file_exists(path)) return {};
  const Result<std::string> old = read_file(path);
  if (old && (old->empty() || old->starts_with(begins_with))) return {};
  return Error{path + " is not from capgate lint --summary-out, and is not overwritten"};
}

Result<SummaryFile> read_summary(const std::string& path, const std::string& build) {
  const Result<std::string> bytes = read_file(path);
  if (!bytes) return Error{"cannot read the summary " + bytes.error()};
  if (!bytes->starts_with(kMagic))
    return Error{path + " is no summary of a source: capgate lint --summary-out writes one"};
  std::optional<SummaryFile> file = from_bytes<SummaryFile>(bytes->substr(kMagic.size()));
  if (!file || file->build != build)
    return Error{path + " was written by another build of capgate: write it again"};
  return std::move(*file);
}

Result<std::vector<std::string>> names(const std::vector<std::string>& given) {
  std::vector<std::string> all;
  for (const std::string& name : given) {
    if (!name.starts_with('@')) {
      all.push_back(name);
      continue;
    }
    const Result<std::string> text = read_file(name.substr(1));
    if (!text) return Error{"cannot read the list of summaries " + text.error()};
    std::string line;
    for (const char c : *text + "\n") {
      if (c != '\n') line += c;
      if (c == '\n' && !line.empty()) all.push_back(std::exchange(line, ""));
    }
  }
  return all;
}

}  // namespace

Result<void> summarise_unit(const LintSettings& settings) {
  const std::string depfile = settings.summary_out + ".d";
  if (const Result<void> free = may_replace(settings.summary_out, kMagic); !free) return free;
  if (const Result<void> free = may_replace(depfile, escaped(settings.summary_out) + ":"); !free) return free;
  const Result<Plan> plan = make_plan(settings);
  if (!plan) return Error{plan.error()};
  if (!plan->unreachable.empty())
    return Error{plan->unreachable[0].file + " was not parsed: " + plan->unreachable[0].text};
  if (plan->units.size() != 1)
    return Error{"--summary-out is for one source with one compile command; here are " +
                 std::to_string(plan->units.size())};
  const Job job{plan->units[0], settings.options,
                settings.resource_dir.empty() ? default_resource_dir() : settings.resource_dir};
  Cache cache(settings.cache_dir, settings.cache_dir.empty() ? "" : program_identity(settings.worker));
  std::optional<Reply> reply = cache.find(job);
  if (!reply)
    run_jobs({job}, {settings.worker, 1, settings.timeout_s}, [&](size_t, Reply made) {
      cache.keep(job, made);
      reply = std::move(made);
      return true;
    });
  if (!reply || !reply->failure.empty())
    return Error{job.command.file +
                 " was not parsed: " + (reply ? reply->failure : "the worker gave no answer")};
  const std::string depends = dependencies(settings.summary_out, reply->inputs);
  // Of thousands of files a unit, the last step asks for the user's alone.
  std::erase_if(reply->inputs.files, [](const InputFile& file) { return !file.user; });
  reply->inputs.earlier = {};
  reply->inputs.names = {};
  reply->inputs.shadowed = {};
  if (const Result<void> written = write_text(depends, depfile); !written) return written;
  return write_text(std::string(kMagic) + to_bytes(SummaryFile{program_build(settings.worker), job, *reply}),
                    settings.summary_out);
}

Result<Summaries> read_summaries(const LintSettings& settings) {
  Result<std::vector<std::string>> files = names(settings.summaries);
  if (!files) return Error{files.error()};
  if (files->empty()) return Error{"--link: " + settings.summaries.front() + " names no summary"};
  std::sort(files->begin(), files->end());
  const std::string build = program_build(settings.worker);
  Summaries all;
  std::string options;
  for (const std::string& name : *files) {
    Result<SummaryFile> file = read_summary(name, build);
    if (!file) return Error{file.error()};
    const std::string theirs = to_bytes(file->job.options);
    if (all.replies.empty()) {
      options = theirs;
      all.options = file->job.options;
    } else if (theirs != options) {
      return Error{name + " and " + files->front() + " were written with different options of capgate lint"};
    }
    if (all.replies.emplace(command_key(file->job.command), std::move(file->reply)).second)
      all.plan.units.push_back(std::move(file->job.command));
  }
  return all;
}

}  // namespace capgate::lint
