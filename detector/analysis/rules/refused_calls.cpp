// refused-call: CUDA refused a call for the capturing stream, and the capture lived on without its work.
#include "detector/analysis/dropped_calls.h"
#include "detector/analysis/judge.h"
#include "detector/analysis/results.h"
#include "detector/trace/families.h"

namespace capgate::analysis {
namespace {

using reports::Severity;
using trace::Family;

// The program noticed: the same function put the like into the capture by another call.
bool was_replaced(Judge& judge, size_t refused, const Capture& capture) {
  const auto& r = judge.call(refused).r;
  const auto family = static_cast<Family>(r.family);
  const bool copies = trace::is_copy(family);
  for (size_t i = refused + 1; i < judge.process().trace.calls.size(); ++i) {
    const auto& later = judge.call(i).r;
    if (later.h.seq > capture.end_seq) return false;
    if (later.result != 0 || (later.flags & trace::kNested) ||
        judge.context(i).stream_capture != static_cast<int32_t>(capture.number))
      continue;
    const auto other = static_cast<Family>(later.family);
    // Launches that CUDA took have no place; the kernel is the same one.
    if (family == Family::launch ? other == family && later.label == r.label
        : copies                 ? trace::is_copy(other) && later.dst == r.dst
                                 : other == family && judge.place(i).known &&
                       judge.place(i).location.function == judge.place(refused).location.function)
      return true;
  }
  return false;
}

}  // namespace

void judge_refused_calls(Judge& judge) {
  for (size_t i = 0; i < judge.process().trace.calls.size(); ++i) {
    // A graph's launch into a capture is nested-launch's, what another device's stream refuses
    // wrong-device's.
    const auto& r = judge.call(i).r;
    if (!was_dropped(judge.timeline(), i) || static_cast<Family>(r.family) == Family::graph_launch ||
        judge.device_refusals.contains(i))
      continue;
    const Capture& capture = *judge.window(i);
    const bool library = judge.place(i).known && !judge.place(i).user_called;
    const bool replaced = was_replaced(judge, i, capture);
    Finding finding;
    finding.rule = "refused-call";
    finding.call = i;
    finding.capture = static_cast<int32_t>(capture.number);
    finding.severity = replaced
                           ? Severity::note
                           : judge.window_severity(capture, library ? Severity::warning : Severity::error);
    if (r.bytes > 0 && trace::is_copy(static_cast<Family>(r.family))) finding.bytes = r.bytes;
    finding.details["the capture"] = "lived on";
    finding.details["replaced"] = replaced ? "yes" : "no";
    finding.message = "CUDA refused " + std::string(judge.timeline().name(judge.call(i))) + " and " +
                      judge.capture_name(capture) + " lived on: " +
                      (replaced ? "another call put its work there" : "its work is in no replay");
    judge.report(finding);
  }
}

}  // namespace capgate::analysis
