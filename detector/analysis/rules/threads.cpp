// cross-thread-call: what another thread does while a capture is open.
#include "detector/analysis/judge.h"
#include "detector/analysis/results.h"
#include "detector/trace/families.h"

namespace capgate::analysis {
namespace {

using reports::Severity;
using trace::Family;

// The capture in global mode that was open when another thread made the call.
const Capture* global_capture_at(const Judge& judge, const Call& call) {
  constexpr uint64_t kGlobal = 0;
  for (const auto& capture : judge.timeline().captures)
    if (call.r.h.seq > capture.begin_seq && call.r.h.seq < capture.end_seq && call.tid != capture.tid &&
        judge.call(capture.begin).r.arg == kGlobal)
      return &capture;
  return nullptr;
}

}  // namespace

void judge_threads(Judge& judge) {
  constexpr uint8_t kGlobalThread = 0;
  for (const auto& capture : judge.timeline().captures) {
    if (!capture.killer || !capture.killer_is_foreign) continue;
    const size_t i = *capture.killer;
    // In a capture of its own the thread broke that one too, by the rule that names the call.
    if (judge.context(i).window != kNone) continue;
    Finding finding;
    finding.rule = "cross-thread-call";
    finding.call = i;
    finding.capture = static_cast<int32_t>(capture.number);
    finding.severity = judge.window_severity(capture, Severity::error);
    finding.killed = judge.killed(i);
    finding.message = "thread " + judge.thread_name(judge.call(i).tid) + " called " +
                      std::string(judge.timeline().name(judge.call(i))) + " while thread " +
                      judge.thread_name(capture.tid) + " was capturing";
    finding.more_stacks.emplace_back(reports::StackRole::captured, capture.begin);
    judge.report(finding);
  }
  for (size_t i = 0; i < judge.process().trace.calls.size(); ++i) {
    const Call& call = judge.call(i);
    if ((call.r.flags & trace::kNested) || judge.context(i).window != kNone ||
        !trace::has_trait(static_cast<Family>(call.r.family), trace::kUnsafe) ||
        call.r.thread_mode != kGlobalThread || judge.killed_any(i))
      continue;
    const Capture* capture = global_capture_at(judge, call);
    if (!capture) continue;
    Finding finding;
    finding.rule = "cross-thread-call";
    finding.call = i;
    finding.capture = static_cast<int32_t>(capture->number);
    finding.severity = Severity::note;
    finding.only_once = "thread " + std::to_string(call.tid);
    finding.message = "thread " + judge.thread_name(call.tid) + " calls " +
                      std::string(judge.timeline().name(call)) + " while thread " +
                      judge.thread_name(capture->tid) +
                      " captures in global mode: this time it broke nothing";
    judge.report(finding);
  }
}

}  // namespace capgate::analysis
