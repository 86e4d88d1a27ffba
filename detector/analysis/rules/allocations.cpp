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

// The library's function that the user called: the outermost of those next to the call.
std::string entered(const Place& at) {
  std::string name;
  bool inside = false;
  for (const reports::Frame& frame : at.frames) {
    if (frame.module == at.caller_module) {
      inside = true;
      const std::string function = frame.function.substr(0, frame.function.find('+'));
      if (!function.empty()) name = function;
    } else if (inside) {
      break;
    }
  }
  return name;
}

// What the line does: `allocates device memory (4096 bytes)`. Where the user called a library, and that made
// the call, the line says nothing of memory: `cublasCreate_v2 in libcublas.so.13 calls cudaFree`.
std::string deed(Judge& judge, size_t i, const Kind& kind, Finding& finding) {
  const Call& call = judge.call(i);
  const Place& at = judge.place(i);
  if (call.r.bytes) finding.bytes = finding.size = call.r.bytes;
  const std::string size = call.r.bytes ? " (" + std::string(kSizeMark) + ")" : "";
  if (!at.known || at.user_called || at.caller_module.empty()) return kind.verb + size;
  finding.details["called by"] = at.caller_module;
  const std::string function = entered(at);
  return (function.empty() ? "" : function + " in ") + at.caller_module + " calls " +
         std::string(judge.timeline().name(call)) + size;
}

void in_window(Judge& judge, size_t i, const Kind& kind, const Capture& capture) {
  const Call& call = judge.call(i);
  Finding finding;
  finding.rule = kind.rule;
  finding.call = i;
  finding.capture = static_cast<int32_t>(capture.number);
  if (is_refusal(call.r.result)) {
    finding.severity = judge.window_severity(capture, Severity::error);
    finding.killed = judge.killed(i);
    finding.message = deed(judge, i, kind, finding) + ", which a capture refuses";
  } else {
    // A framework's pool grows for the graph's sake; a library that makes its workspace does it this once.
    if (judge.is_framework_allocator(i)) return;
    const bool library = judge.place(i).known && !judge.place(i).user_called;
    // The thread exchanged its mode for it: a pool that grows on purpose.
    const bool on_purpose = judge.is_relaxed(i);
    finding.whole_process = on_purpose;
    finding.severity =
        judge.window_severity(capture, library || on_purpose ? Severity::note : Severity::warning);
    finding.message = deed(judge, i, kind, finding) + " while " + judge.capture_name(capture) +
                      " is open: it happens once, and no replay does it again";
  }
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
  finding.phase = Judge::phase_of(step);
  finding.severity = judge.context(i).in_break || once_by_library ? Severity::note : Severity::error;
  finding.message = deed(judge, i, kind, finding) + " in the step \"" + step.name +
                    "\", which a capture of it would refuse";
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
