// lazy-load: code brought to the device where a step should only run it.
#include <algorithm>
#include <map>
#include <set>

#include "detector/analysis/judge.h"
#include "detector/analysis/kernel_name.h"
#include "detector/analysis/results.h"

namespace capgate::analysis {
namespace {

using reports::Severity;
using trace::Family;

// Which kernel a launch brought to the device. No stack is taken of most launches: only this names the code.
std::string for_kernel(Judge& judge, const Call& call) {
  if (static_cast<Family>(call.r.family) != Family::launch) return "";
  const std::string_view kernel = judge.process().trace.text(call.r.label);
  return kernel.empty() ? "" : ", first that of the kernel " + kernel_name(kernel).substr(0, 120);
}

// Loading accepted during a capture is cold code, not a fault: one note a process tells where it began.
void judge_load(Judge& judge, size_t i) {
  const Call& call = judge.call(i);
  Finding finding;
  finding.rule = "lazy-load";
  finding.call = i;
  const bool unloads = static_cast<Family>(call.r.family) == Family::module_unload;
  const std::string what = unloads ? "unloads a module" : "loads code";
  if (const Capture* capture = judge.window(i)) {
    finding.capture = static_cast<int32_t>(capture->number);
    if (is_refusal(call.r.result)) {
      finding.severity = judge.window_severity(*capture, Severity::error);
      finding.killed = judge.killed(i);
      finding.message = what + ", which a capture refuses";
    } else {
      finding.severity = Severity::note;
      finding.whole_process = true;
      finding.message = what + " while " + judge.capture_name(*capture) +
                        (unloads ? " is open: keep it until the graphs that use it are gone"
                                 : " is open" + for_kernel(judge, call));
      if (!judge.place(i).known) finding.more_stacks.emplace_back(reports::StackRole::origin, capture->begin);
    }
  } else if (const RegionOccurrence* step = judge.region(i)) {
    if (step->number == 0) return;
    finding.phase = reports::Phase::step;
    finding.severity = Severity::note;
    finding.message =
        what + " in the step \"" + step->name + "\" after its first pass" + for_kernel(judge, call);
  } else {
    return;
  }
  judge.report(finding);
}

bool same_function_unloaded(const Place& loads, const Place& unloads) {
  return loads.known && loads.location.line > 0 &&
         std::any_of(unloads.frames.begin(), unloads.frames.end(), [&](const reports::Frame& frame) {
           return frame.file == loads.location.file && frame.function == loads.location.function;
         });
}

// A cache that made room for what it loads: the same function unloaded one module and loads the next, and its
// thread did nothing in between. What it lacks is room, and that is said at the unload.
void link_evictions(Judge& judge) {
  std::map<uint32_t, size_t> unload_before;  // by thread: its last call
  for (size_t i = 0; i < judge.process().trace.calls.size(); ++i) {
    const Call& call = judge.call(i);
    if (call.r.flags & trace::kNested) continue;
    const auto unload = unload_before.find(call.tid);
    if (static_cast<Family>(call.r.family) == Family::module_unload) {
      unload_before[call.tid] = i;
    } else if (unload != unload_before.end()) {
      if (static_cast<Family>(call.r.family) == Family::module_load &&
          same_function_unloaded(judge.place(i), judge.place(unload->second)))
        judge.follows({"lazy-load", i}, {"lazy-load", unload->second});
      unload_before.erase(unload);
    }
  }
}

}  // namespace

void judge_loading(Judge& judge) {
  link_evictions(judge);
  std::set<size_t> judged;
  std::map<uint64_t, size_t> by_seq;
  const auto& trace = judge.process().trace;
  for (size_t i = 0; i < trace.calls.size(); ++i) {
    const Call& call = judge.call(i);
    const auto family = static_cast<Family>(call.r.family);
    by_seq[call.r.h.seq] = i;
    if (call.r.result == kCaptureInvalidated) continue;
    const bool load = family == Family::module_load || family == Family::module_unload;
    const bool refused_look_up = family == Family::symbol_load && is_refusal(call.r.result);
    if ((call.r.flags & trace::kNested) || (!load && !refused_look_up) || judge.is_relaxed_library(i))
      continue;
    judged.insert(i);
    judge_load(judge, i);
  }
  // What a launch or another call loaded on the way.
  for (const auto& object : trace.objects) {
    if (object.type != trace::RecordType::module_load ||
        object.r.op != static_cast<uint16_t>(trace::ObjectOp::loaded))
      continue;
    const auto call = by_seq.find(object.r.call_seq);
    if (call == by_seq.end() || !judged.insert(call->second).second || judge.is_relaxed_library(call->second))
      continue;
    const auto family = static_cast<Family>(judge.call(call->second).r.family);
    if (family == Family::launch && is_refusal(judge.call(call->second).r.result)) continue;
    judge_load(judge, call->second);
  }
}

}  // namespace capgate::analysis
