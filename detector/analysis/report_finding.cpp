// A finding becomes a violation, or one more occurrence of a violation that is known.
#include <algorithm>

#include "detector/analysis/judge.h"
#include "detector/analysis/results.h"

namespace capgate::analysis {
namespace {

using reports::Phase;
using reports::Severity;

std::vector<reports::SourceLine> quoted_source(const seal::SealedTrace& trace, const reports::Location& at) {
  std::vector<reports::SourceLine> lines;
  const auto file =
      std::lower_bound(trace.sources.begin(), trace.sources.end(), at.file,
                       [](const seal::SourceFile& f, const std::string& path) { return f.path < path; });
  if (file == trace.sources.end() || file->path != at.file) return lines;
  constexpr int kAround = 2;
  for (auto line = file->lines.lower_bound(at.line - kAround);
       line != file->lines.end() && line->first <= at.line + kAround; ++line)
    lines.push_back({line->first, line->second});
  return lines;
}

}  // namespace

std::string Judge::stream_text(size_t i) const {
  const uint32_t flags = call(i).r.flags;
  if (flags & trace::kLegacyStream) return "legacy default stream";
  return flags & trace::kHasStreamArg ? stream_name(i) : "";
}

void Judge::describe(reports::Violation& v, const Finding& finding, const Place& at) {
  v.severity = finding.severity;
  v.phase = finding.phase;
  v.message = finding.killed.empty() ? finding.message : killed_text(finding.killed) + ": " + finding.message;
  v.evidence = {reports::Evidence::runtime};
  v.location = at.location;
  v.source = quoted_source(trace_, at.location);
  v.stacks.clear();
  if (!at.frames.empty()) v.stacks.push_back({finding.role, at.frames});
  if (finding.origin && !place(*finding.origin).frames.empty())
    v.stacks.push_back({reports::StackRole::origin, place(*finding.origin).frames});
  for (const auto& [role, other] : finding.stacks_elsewhere)
    if (!place(other).frames.empty()) v.stacks.push_back({role, place(other).frames});
  for (const auto& [role, other] : finding.more_stacks)
    if (!place(other).frames.empty()) v.stacks.push_back({role, place(other).frames});
  v.details = finding.details;
  if (!torch_ && v.location.file.ends_with(".py")) v.details["torch"] = "not loaded";
}

void Judge::report_apart(const Finding& finding, const std::string& what, uint32_t tid, uint64_t times) {
  const Place& at = place(*finding.elsewhere);
  Findings::Entry& entry = findings_.at(finding.rule, at.site + '|' + what);
  const bool fresh = entry.violation.count == 0;
  entry.violation.count += times;
  entry.later += times;
  entry.unallowed += times;
  entry.processes.insert(process_.trace.pid);
  if (!fresh) return;
  describe(entry.violation, finding, at);
  entry.violation.thread = thread_name(tid);
}

void Judge::report(const Finding& finding) {
  const auto& record = call(finding.call).r;
  const Place& at = finding.elsewhere ? place(*finding.elsewhere) : place(finding.call);
  std::string site = at.known ? at.site : "?" + std::string(timeline_.name(call(finding.call)));
  const auto shared = [&](const std::string& key) {
    site = first_site_.try_emplace(key, site).first->second;
  };
  if (finding.whole_process) {
    const std::string own = site;
    shared(finding.rule);
    if (site != own) return;  // it counts what is at its own line
  }
  if (!finding.only_once.empty() &&
      !first_site_.try_emplace(finding.rule + '|' + finding.only_once, site).second)
    return;

  Findings::Entry& entry = findings_.at(finding.rule, site);
  auto& v = entry.violation;
  const bool fresh = v.count == 0;
  const RegionOccurrence* step = finding.phase == Phase::warmup ? region(finding.call) : nullptr;
  const bool warm = step && goes_on(*step);
  const double blocked = finding.blocks ? blocked_us_with_its_copy(finding.call) : 0;
  if (finding.capture == kNone)
    if (const auto* in = region(finding.call)) count_in_step(entry, *in, blocked);
  if (const auto link = linked_.find({finding.rule, finding.call}); link != linked_.end())
    link->second = &entry;
  ++v.count;
  ++(warm ? entry.warm : entry.later);
  entry.processes.insert(process_.trace.pid);

  const Allow* allow = nullptr;
  for (const auto& scope : context(finding.call).allows)
    if (scope.rule == finding.rule || scope.rule == "*") allow = &scope;
  if (allow)
    entry.allow_reason = allow->reason;
  else
    ++entry.unallowed;

  if (finding.bytes) v.bytes = v.bytes.value_or(0) + *finding.bytes;
  if (finding.size) {
    auto& sizes = entry.sizes ? *entry.sizes : entry.sizes.emplace(*finding.size, *finding.size);
    sizes = {std::min(sizes.first, *finding.size), std::max(sizes.second, *finding.size)};
  }
  if (blocked > 0) v.blocked_us = v.blocked_us.value_or(0) + blocked;

  add_nodes(entry, finding);

  const bool kills = finding.severity == Severity::error && !finding.killed.empty();
  if (finding.capture != kNone) {
    const std::pair<int64_t, int32_t> id{process_.trace.pid, finding.capture};
    entry.captures[id] = timeline_.captures[static_cast<size_t>(finding.capture)].launches;
    if (kills) entry.killed.insert(id);
    ++entry.in_captures;
  }
  const std::string thread = thread_name(call(finding.call).tid), stream = stream_text(finding.call);
  entry.threads.insert(thread);
  if (!stream.empty()) entry.streams.insert(stream);
  const int device = record.stream_device != trace::kNoDevice ? record.stream_device : record.device;
  if (device != trace::kNoDevice) entry.devices.insert(device);

  // The gravest occurrence speaks for all, the first one among equals; a step that is past its warm-up goes
  // before one that is not.
  const bool graver =
      finding.severity < v.severity || (finding.severity == v.severity && v.phase == Phase::warmup && !warm);
  if (!fresh && !graver) return;
  describe(v, finding, at);
  if (finding.elsewhere) {
    if (!finding.elsewhere->result.empty()) v.result = finding.elsewhere->result;
  } else {
    v.api = std::string(timeline_.name(call(finding.call)));
    v.result = result_text(record.result, timeline_.name(call(finding.call)));
  }
  // How the fault is headed: what became of the capture, or which marked step it is in.
  entry.killed_name = kills ? finding.killed : "";
  if (kills) v.details["consequence"] = killed_text(finding.killed);
  if (finding.capture == kNone)
    if (const auto* marked = region(finding.call)) v.details["region"] = marked->name;
  if (finding.capture != kNone) {
    const auto& capture = timeline_.captures[static_cast<size_t>(finding.capture)];
    v.capture = capture_id(capture);
    if (!capture.bucket.empty()) v.details["bucket"] = capture.bucket;
  }
  if (!stream.empty()) v.stream = stream;
  v.thread = thread;
  if (device != trace::kNoDevice) v.device = device;
}

// The node that the call made, and the one that a stack says was captured there.
void Judge::add_nodes(Findings::Entry& entry, const Finding& finding) {
  if (!made_nodes_) made_nodes_.emplace(timeline_);
  const auto add = [&](size_t call) {
    for (const auto& [capture, node] : made_nodes_->by(call)) entry.nodes[capture].insert(node);
  };
  add(finding.call);
  for (const auto& [role, call] : finding.more_stacks)
    if (role == reports::StackRole::captured || role == reports::StackRole::node) add(call);
}

void Judge::count_in_step(Findings::Entry& entry, const RegionOccurrence& step, double blocked_us) {
  StepShare& share = entry.in_regions;
  share.regions[{process_.trace.pid, step.name}] = region_steps_[step.name];
  if (!counts(step)) return;
  ++share.calls;
  share.blocked_us += blocked_us;
  share.blocks |= blocked_us > 0;
}

void Judge::count_in_replays(const std::string& rule, const std::string& site, const StepShare& share) {
  const auto [of_process, fresh] = findings_.at(rule, site).in_replays.try_emplace(process_.trace.pid);
  StepShare& known = of_process->second;
  // Where one graph's steps go over the budget, its figures are the ones to report.
  if (std::pair(share.waits.is_over, share.calls) > std::pair(known.waits.is_over, known.calls))
    known = share;
  known.waits.one_of_several = !fresh;
}

void Judge::follows(const Fault& symptom, const Fault& cause) {
  linked_.try_emplace(symptom, nullptr);
  linked_.try_emplace(cause, nullptr);
  links_.emplace_back(symptom, cause);
}

void Judge::link_symptoms() {
  for (const auto& [symptom, cause] : links_) {
    Findings::Entry* const of = linked_.at(symptom);
    const Findings::Entry* const from = linked_.at(cause);
    if (of && from && of != from) ++of->causes[from];
  }
  links_.clear();
  linked_.clear();
}

}  // namespace capgate::analysis
