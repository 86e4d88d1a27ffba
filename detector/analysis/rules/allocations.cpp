// device-alloc and host-alloc: memory got or given back where a graph can do neither.
#include <set>

#include "detector/analysis/judge.h"
#include "detector/analysis/results.h"

namespace capgate::analysis {
namespace {

using reports::Severity;
using trace::Family;

struct Kind {
  const char* rule;
  const char* verb;
};

bool kind_of(Family family, Kind& kind) {
  switch (family) {
    case Family::alloc_device:
      kind = {"device-alloc", "allocates device memory"};
      return true;
    case Family::free_device:
      kind = {"device-alloc", "frees device memory"};
      return true;
    case Family::vmm:
      kind = {"device-alloc", "changes a mapping of device memory"};
      return true;
    case Family::alloc_host:
      kind = {"host-alloc", "allocates pinned memory"};
      return true;
    case Family::free_host:
      kind = {"host-alloc", "frees pinned memory"};
      return true;
    case Family::host_register:
      kind = {"host-alloc", "pins host memory"};
      return true;
    case Family::host_unregister:
      kind = {"host-alloc", "unpins host memory"};
      return true;
    default:
      return false;
  }
}

std::string size_text(const trace::CallRecord& r) {
  return r.bytes ? " (" + std::to_string(r.bytes) + " bytes)" : "";
}

// The user called a library, and that made the call: a line that says nothing of memory is explained by it.
void name_library(Judge& judge, size_t i, Finding& finding) {
  const Place& at = judge.place(i);
  if (at.known && !at.user_called && !at.caller_module.empty())
    finding.details["called by"] = at.caller_module;
}

void in_window(Judge& judge, size_t i, const Kind& kind, const Capture& capture) {
  const Call& call = judge.call(i);
  Finding finding;
  finding.rule = kind.rule;
  finding.call = i;
  finding.capture = static_cast<int32_t>(capture.number);
  if (call.r.bytes) finding.bytes = call.r.bytes;
  if (is_refusal(call.r.result)) {
    finding.severity = judge.window_severity(capture, Severity::error);
    finding.message = judge.killed(i) + kind.verb + size_text(call.r) + ", which a capture refuses";
  } else {
    // A framework's pool grows for the graph's sake; a library that makes its workspace does it this once.
    if (judge.is_framework_allocator(i)) return;
    const bool library = judge.place(i).known && !judge.place(i).user_called;
    // The thread exchanged its mode for it: a pool that grows on purpose.
    const bool on_purpose = judge.is_relaxed(i);
    finding.whole_process = on_purpose;
    finding.severity =
        judge.window_severity(capture, library || on_purpose ? Severity::note : Severity::warning);
    finding.message = kind.verb + size_text(call.r) + " while " + judge.capture_name(capture) +
                      " is open: it happens once, and no replay does it again";
  }
  name_library(judge, i, finding);
  judge.report(finding);
}

void in_step(Judge& judge, size_t i, const Kind& kind, const RegionOccurrence& step, bool once_by_library) {
  const Call& call = judge.call(i);
  const bool refused = is_refusal(call.r.result);
  // The first pass may build what later ones use; the framework's pools allocate differently under capture.
  if (!refused && (step.number == 0 || judge.is_framework_allocator(i))) return;
  Finding finding;
  finding.rule = kind.rule;
  finding.call = i;
  if (call.r.bytes) finding.bytes = call.r.bytes;
  finding.phase = Judge::phase_of(step);
  finding.severity = judge.context(i).in_break || once_by_library ? Severity::note : Severity::error;
  finding.message = std::string(kind.verb) + size_text(call.r) + " in the step \"" + step.name +
                    "\", which a capture of it would refuse";
  name_library(judge, i, finding);
  judge.report(finding);
}

}  // namespace

void judge_allocations(Judge& judge) {
  const size_t calls = judge.process().trace.calls.size();
  // Passes in which a library's site allocates: once is a workspace, more is a habit.
  std::map<std::string, std::set<int32_t>> passes;
  Kind kind{};
  for (size_t i = 0; i < calls; ++i) {
    const Call& call = judge.call(i);
    if ((call.r.flags & trace::kNested) || !kind_of(static_cast<Family>(call.r.family), kind)) continue;
    if (judge.region(i)) passes[judge.place(i).site].insert(judge.context(i).region);
  }
  for (size_t i = 0; i < calls; ++i) {
    const Call& call = judge.call(i);
    if ((call.r.flags & trace::kNested) || !kind_of(static_cast<Family>(call.r.family), kind)) continue;
    if (call.r.result == kCaptureInvalidated || judge.is_relaxed_library(i)) continue;
    if (const Capture* capture = judge.window(i)) {
      in_window(judge, i, kind, *capture);
    } else if (const RegionOccurrence* step = judge.region(i)) {
      const Place& at = judge.place(i);
      const bool library = at.known && !at.user_called;
      in_step(judge, i, kind, *step, library && passes[at.site].size() == 1);
    }
  }
}

}  // namespace capgate::analysis
