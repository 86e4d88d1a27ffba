#include "detector/analysis/judge.h"

#include <algorithm>

#include "detector/analysis/results.h"
#include "detector/analysis/thread_name.h"
#include "detector/trace/families.h"

namespace capgate::analysis {
namespace {

using reports::Phase;
using reports::Severity;
using trace::Family;
using trace::is_memory;

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

// Named by the program's files or by the process; an older trace only has the frames.
bool loads_torch(const seal::SealedTrace& trace, const seal::Process& process) {
  if (trace.program.contains("torch") || !process.trace.fact("torch").empty() ||
      !process.trace.fact("torch.blocks").empty())
    return true;
  return std::any_of(trace.frames.begin(), trace.frames.end(), [](const reports::Frame& frame) {
    return frame.module.starts_with("libtorch") || frame.module.starts_with("libc10") ||
           frame.file.starts_with("torch/");
  });
}

}  // namespace

Judge::Judge(const seal::SealedTrace& trace, const seal::Process& process, const Timeline& timeline,
             Places& places, const reports::Settings& settings, Findings& findings)
    : trace_(trace),
      process_(process),
      timeline_(timeline),
      places_(places),
      settings_(settings),
      findings_(findings) {
  device_refusals = refused_for_their_device(process.trace);
  torch_ = loads_torch(trace, process);
  region_steps_ = region_steps(timeline);
  pair_copies_with_waits();
}

const Place& Judge::place(size_t i) {
  const auto& r = call(i).r;
  return places_.at(r.stack, r.python_stack, process_.trace.text(r.label));
}

const Place& Judge::place(const Elsewhere& at) {
  return places_.at(at.stack, at.python_stack, "");
}

const Capture* Judge::window(size_t i) const {
  const int32_t id = context(i).window;
  return id == kNone ? nullptr : &timeline_.captures[static_cast<size_t>(id)];
}

const RegionOccurrence* Judge::region(size_t i) const {
  if (context(i).window != kNone || context(i).region == kNone) return nullptr;
  const auto& occurrence = timeline_.regions[static_cast<size_t>(context(i).region)];
  return occurrence.has_capture ? nullptr : &occurrence;
}

bool Judge::goes_on(const RegionOccurrence& occurrence) const {
  return std::any_of(timeline_.regions.begin(), timeline_.regions.end(), [&](const RegionOccurrence& other) {
    return other.number > occurrence.number && other.tid == occurrence.tid && other.name == occurrence.name;
  });
}

bool Judge::is_relaxed(size_t i) const {
  constexpr uint8_t kRelaxed = 2;
  return call(i).r.result == 0 && call(i).r.thread_mode == kRelaxed;
}

bool Judge::is_relaxed_library(size_t i) {
  return is_relaxed(i) && place(i).known && !place(i).user_called;
}

bool Judge::is_framework_allocator(size_t i) {
  const Place& at = place(i);
  if (at.user_called) return false;
  const auto family = static_cast<Family>(call(i).r.family);
  // What the program asked for through torch (a stream's query, a copy) comes from the same libraries: only
  // memory is the allocators' alone.
  const bool torch =
      at.caller_module.starts_with("libc10_cuda") || at.caller_module.starts_with("libtorch_cuda");
  if (torch && is_memory(family)) return true;
  constexpr size_t kNear = 12;
  for (size_t f = 0; f < at.frames.size() && f < kNear; ++f) {
    if (at.frames[f].language == reports::FrameLanguage::python) return false;
    const std::string_view name = at.frames[f].function;
    if (name.find("CachingAllocator") != std::string_view::npos ||
        name.find("CachingHostAllocator") != std::string_view::npos ||
        name.find("DeviceCachingAllocator") != std::string_view::npos)
      return true;
  }
  return false;
}

Severity Judge::window_severity(const Capture& capture, Severity full) const {
  if (capture.state == CaptureState::failed) return capture.retried ? Severity::note : full;
  if (capture.state == CaptureState::open || timeline_.detached) return full;
  return capture.launches == 0 ? Severity::note : full;
}

std::string Judge::capture_id(const Capture& capture) const {
  return std::to_string(process_.trace.pid) + ":" + std::to_string(capture.number + 1);
}

std::string Judge::capture_name(const Capture& capture) const {
  return analysis::capture_name(timeline_, capture);
}

std::string Judge::stream_name(size_t i) const {
  const auto label = timeline_.stream_labels.find(stream_key(call(i)));
  return label == timeline_.stream_labels.end() ? "a stream" : label->second;
}

std::string Judge::stream_text(size_t i) const {
  const uint32_t flags = call(i).r.flags;
  if (flags & trace::kLegacyStream) return "legacy default stream";
  return flags & trace::kHasStreamArg ? stream_name(i) : "";
}

std::string Judge::thread_name(uint32_t tid) const {
  return analysis::thread_name(timeline_, tid);
}

std::string Judge::killed(size_t i) const {
  std::string out;
  for (const auto& capture : timeline_.captures)
    if (capture.killer && *capture.killer == i)
      out += (out.empty() ? "killed " : " and ") + capture_name(capture);
  return out.empty() ? out : out + ": ";
}

void Judge::describe(reports::Violation& v, const Finding& finding, const Place& at) {
  v.severity = finding.severity;
  v.phase = finding.phase;
  v.message = finding.message;
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

double Judge::blocked_us_with_its_copy(size_t i) const {
  double blocked = blocked_us(call(i));
  if (const auto copy = copy_of_wait.find(i);
      copy != copy_of_wait.end() && blocks_host(timeline_, call(copy->second)))
    blocked += blocked_us(call(copy->second));
  return blocked;
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
  else if (finding.capture != kNone &&
           !timeline_.captures[static_cast<size_t>(finding.capture)].allow_failure.empty() &&
           timeline_.captures[static_cast<size_t>(finding.capture)].state == CaptureState::failed)
    entry.allow_reason = timeline_.captures[static_cast<size_t>(finding.capture)].allow_failure;
  else
    ++entry.unallowed;

  if (finding.bytes) v.bytes = v.bytes.value_or(0) + *finding.bytes;
  if (finding.size) {
    auto& sizes = entry.sizes ? *entry.sizes : entry.sizes.emplace(*finding.size, *finding.size);
    sizes = {std::min(sizes.first, *finding.size), std::max(sizes.second, *finding.size)};
  }
  if (blocked > 0) v.blocked_us = v.blocked_us.value_or(0) + blocked;

  add_nodes(entry, finding);

  const bool kills = finding.severity == Severity::error && finding.message.starts_with("killed ");
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
  if (kills) v.details["consequence"] = finding.message.substr(0, finding.message.find(": "));
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

std::string host_memory(trace::HostPlace place) {
  switch (place) {
    case trace::HostPlace::stack:
      return "stack memory";
    case trace::HostPlace::heap:
      return "heap memory";
    case trace::HostPlace::module_data:
      return "static data";
    case trace::HostPlace::mapping:
      return "mapped memory";
    case trace::HostPlace::unknown:
      break;
  }
  return "pageable memory";
}

}  // namespace capgate::analysis
