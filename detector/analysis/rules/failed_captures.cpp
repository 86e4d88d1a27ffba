// capture-invalidated: the capture failed and no other rule says why.
#include <set>

#include "detector/analysis/judge.h"
#include "detector/analysis/results.h"
#include "detector/trace/families.h"

namespace capgate::analysis {
namespace {

using reports::Severity;
using trace::Family;

// Calls for which another rule has spoken when they were refused.
bool has_own_rule(Judge& judge, size_t i, const Capture& capture) {
  const Call& call = judge.call(i);
  if (judge.device_refusals.contains(i)) return true;
  if (!is_refusal(call.r.result)) return false;
  if (capture.killer_is_foreign) return true;
  const bool legacy = call.r.flags & trace::kLegacyStream;
  switch (static_cast<Family>(call.r.family)) {
    case Family::stream_sync:
    case Family::event_sync:
    case Family::device_sync:
    case Family::stream_query:
    case Family::event_query:
    case Family::memcpy_sync:
    case Family::memset_sync:
    case Family::alloc_device:
    case Family::free_device:
    case Family::vmm:
    case Family::alloc_host:
    case Family::free_host:
    case Family::host_register:
    case Family::host_unregister:
    case Family::module_load:
    case Family::module_unload:
    case Family::symbol_load:
      return true;
    case Family::graph_launch:
      return legacy || judge.context(i).stream_capture != kNone;
    case Family::stream_wait:
    case Family::event_record:
      return legacy || call.r.result == kCaptureIsolation || call.r.result == kCaptureMerge;
    default:
      return (legacy && is_work(static_cast<Family>(call.r.family))) || call.r.result == kCaptureMerge;
  }
}

void report_failure(Judge& judge, const Capture& capture) {
  const size_t guilty = capture.killer.value_or(capture.end.value_or(capture.begin));
  Finding finding;
  finding.rule = "capture-invalidated";
  finding.call = guilty;
  finding.capture = static_cast<int32_t>(capture.number);
  finding.severity = judge.window_severity(capture, Severity::error);
  const auto& r = judge.call(guilty).r;
  if (capture.killer) finding.killed = judge.capture_name(capture);
  if (capture.killer)
    finding.message = std::string(judge.timeline().name(judge.call(guilty))) + " gave " +
                      result_text(r.result, judge.timeline().name(judge.call(guilty)));
  else
    finding.message = judge.capture_name(capture) + " failed at its end with " +
                      result_text(r.result, judge.timeline().name(judge.call(guilty))) +
                      ", and no call in it is known to have failed first";
  if (capture.end && guilty != *capture.end)
    finding.details["end of the capture"] =
        result_text(judge.call(*capture.end).r.result, judge.timeline().name(judge.call(*capture.end)));
  judge.report(finding);
}

}  // namespace

void judge_failed_captures(Judge& judge) {
  std::set<size_t> named;
  for (const auto& capture : judge.timeline().captures) {
    if (capture.state != CaptureState::failed || capture.left) continue;
    const bool unjoined =
        capture.end && !capture.killer && judge.call(*capture.end).r.result == kCaptureUnjoined;
    if (unjoined || (capture.killer && has_own_rule(judge, *capture.killer, capture))) continue;
    if (capture.killer && !named.insert(*capture.killer).second) continue;
    report_failure(judge, capture);
  }
  // A capture that was refused at its begin.
  for (size_t i = 0; i < judge.process().trace.calls.size(); ++i) {
    const Call& call = judge.call(i);
    if (static_cast<Family>(call.r.family) != Family::capture_begin || (call.r.flags & trace::kNested) ||
        call.r.result == 0 || call.r.result == trace::kPending || call.r.result == kCaptureInvalidated)
      continue;
    Finding finding;
    finding.rule = "capture-invalidated";
    finding.call = i;
    const bool legacy = stream_key(call) == 0;
    finding.message =
        "a capture could not begin: " + result_text(call.r.result, judge.timeline().name(call)) +
        (legacy ? "; the legacy default stream cannot be captured" : "");
    judge.report(finding);
  }
}

}  // namespace capgate::analysis
