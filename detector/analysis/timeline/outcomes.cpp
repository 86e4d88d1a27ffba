#include "detector/analysis/results.h"
#include "detector/analysis/timeline/open_captures.h"
#include "detector/trace/families.h"

namespace capgate::analysis {
namespace {

using trace::Family;

bool belongs(const Timeline& timeline, const Capture& capture, size_t index) {
  const Call& call = timeline.call(index);
  if (call.tid == capture.tid) return true;
  if (timeline.contexts[index].stream_capture == static_cast<int32_t>(capture.number)) return true;
  const auto since = capture.threads.find(call.tid);
  return since != capture.threads.end() && call.r.h.seq >= since->second;
}

void find_killer(const Timeline& timeline, Capture& capture) {
  std::optional<size_t> other_failure;
  for (size_t i = capture.begin + 1; i < timeline.trace->calls.size(); ++i) {
    const Call& call = timeline.call(i);
    if (call.r.h.seq > capture.end_seq) break;
    if ((call.r.flags & trace::kNested) || (capture.end && i == *capture.end)) continue;
    const bool own = belongs(timeline, capture, i);
    if (is_refusal(call.r.result)) {
      // A refused end of this or another capture is a consequence, a query of the capture's state breaks
      // nothing.
      const auto family = static_cast<Family>(call.r.family);
      if (family == Family::capture_end || family == Family::capture_info) continue;
      // Another thread's own capture answers for its own refusals, unless the streams say otherwise.
      if (!own && timeline.contexts[i].window != kNone && call.r.result != kCaptureUnsupported) continue;
      // Only a global capture forbids other threads anything, a wait for the whole device apart.
      constexpr uint64_t kGlobal = 0;
      if (!own && timeline.call(capture.begin).r.arg != kGlobal && family != Family::device_sync) continue;
      capture.killer = i;
      capture.killer_is_foreign = !own;
      return;
    }
    const bool failed = call.r.result != 0 && call.r.result != kNotReady &&
                        call.r.result != kCaptureInvalidated && call.r.result != trace::kPending;
    const auto family = static_cast<Family>(call.r.family);
    if (failed && own && !other_failure && family != Family::query && family != Family::event_query &&
        family != Family::stream_query)
      other_failure = i;
  }
  if (capture.end) capture.killer = other_failure;
}

}  // namespace

void settle(Timeline& timeline, Capture& capture) {
  const uint64_t nodes = capture.record ? capture.record->nodes : 0;
  if (!capture.end || timeline.call(*capture.end).r.result == trace::kPending)
    capture.state = CaptureState::open;
  else if (timeline.call(*capture.end).r.result != 0)
    capture.state = CaptureState::failed;
  else
    capture.state = capture.record && nodes == 0 ? CaptureState::empty : CaptureState::completed;
  if (capture.state == CaptureState::completed || capture.state == CaptureState::empty) return;
  find_killer(timeline, capture);
  // Left open after its death: nobody ended what was broken already.
  if (capture.state == CaptureState::open && capture.killer) capture.state = CaptureState::failed;
}

}  // namespace capgate::analysis
