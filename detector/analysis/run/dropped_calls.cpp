#include "detector/analysis/dropped_calls.h"

#include "detector/analysis/results.h"
#include "detector/trace/families.h"

namespace capgate::analysis {

bool was_dropped(const Timeline& timeline, size_t i) {
  const auto& r = timeline.call(i).r;
  const auto& context = timeline.contexts[i];
  constexpr uint8_t kActive = 1;  // CUstreamCaptureStatus
  if (r.result == 0 || r.result == trace::kPending || r.result == kNotReady ||
      r.result == kCaptureInvalidated || (r.flags & trace::kNested) || r.capture_status != kActive ||
      context.stream_capture == kNone || !trace::is_work(static_cast<trace::Family>(r.family)))
    return false;
  const auto& capture = timeline.captures[static_cast<size_t>(context.stream_capture)];
  return capture.state == CaptureState::completed || capture.state == CaptureState::empty;
}

}  // namespace capgate::analysis
