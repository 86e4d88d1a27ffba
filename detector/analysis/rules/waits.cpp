// host-sync and host-poll: the host waits for the device, or asks it.
#include <optional>

#include "detector/analysis/copy_operands.h"
#include "detector/analysis/judge.h"
#include "detector/analysis/private_setup.h"
#include "detector/analysis/results.h"
#include "detector/trace/families.h"

namespace capgate::analysis {
namespace {

using reports::Severity;
using trace::Family;

std::string copy_text(Judge& judge, size_t copy) {
  const auto& r = judge.call(copy).r;
  return std::string(kSizeMark) + (goes_to_host(judge.timeline(), r) ? " from the device" : " to the device");
}

// The user asked for a value, not for a wait: where one line copies and waits, the copy is named.
std::string waits_for(Judge& judge, size_t i) {
  if (const auto copy = judge.copy_of_wait.find(i); copy != judge.copy_of_wait.end())
    return "waits for a copy of " + copy_text(judge, copy->second);
  switch (static_cast<Family>(judge.call(i).r.family)) {
    case Family::event_sync:
      return "waits for an event";
    case Family::device_sync:
      return "waits for the whole device";
    default:
      return "waits for a stream";
  }
}

// Where an event that is waited for was recorded: its stream and what comes before. Of other waits, the wait.
struct WaitedUpTo {
  size_t call = 0;
  std::optional<uint64_t> stream;  // none: any
};

std::optional<WaitedUpTo> waited_up_to(Judge& judge, size_t wait) {
  const Call& call = judge.call(wait);
  const auto family = static_cast<Family>(call.r.family);
  if (family == Family::stream_sync) return WaitedUpTo{wait, stream_key(call)};
  if (family != Family::event_sync) return WaitedUpTo{wait, std::nullopt};
  for (size_t i = wait; i-- > 0;) {
    const Call& before = judge.call(i);
    if (static_cast<Family>(before.r.family) == Family::event_record && before.r.object == call.r.object &&
        !(before.r.flags & trace::kNested))
      return WaitedUpTo{i, stream_key(before)};
  }
  return std::nullopt;
}

// The wait is for a value: the same function has queued a copy to the host on that stream in this step, and
// waited for nothing since. Into pageable memory a copy has arrived when the call returns.
bool reads_back(Judge& judge, size_t wait) {
  constexpr size_t kNear = 64;
  const auto end = waited_up_to(judge, wait);
  if (!end) return false;
  const Call& call = judge.call(wait);
  for (size_t i = wait, seen = 0; i-- > 0 && seen < kNear; ++seen) {
    const Call& before = judge.call(i);
    if (before.tid != call.tid || (before.r.flags & trace::kNested)) continue;
    const auto family = static_cast<Family>(before.r.family);
    if (trace::is_wait(family) || judge.region(i) != judge.region(wait)) return false;
    if (i > end->call || family != Family::memcpy_async || !goes_to_host(judge.timeline(), before.r))
      continue;
    if (before.r.dst_memory == static_cast<uint8_t>(trace::Memory::pageable)) continue;
    if (end->stream && stream_key(before) != *end->stream) continue;
    const auto& here = judge.place(wait).location;
    const auto& there = judge.place(i).location;
    return !here.function.empty() && here.function == there.function && here.file == there.file;
  }
  return false;
}

void add_copy(Judge& judge, size_t wait, Finding& finding) {
  const auto copy = judge.copy_of_wait.find(wait);
  if (copy == judge.copy_of_wait.end()) {
    if (reads_back(judge, wait)) finding.details["direction"] = "device to host";
    return;
  }
  finding.size = judge.call(copy->second).r.bytes;
  finding.details["copy"] = copy_text(judge, copy->second) + " (" +
                            std::string(judge.timeline().name(judge.call(copy->second))) + ")";
}

void wait_in_window(Judge& judge, size_t i, const Capture& capture) {
  const Call& call = judge.call(i);
  Finding finding;
  finding.rule = "host-sync";
  finding.call = i;
  finding.capture = static_cast<int32_t>(capture.number);
  finding.blocks = true;
  // Accepted, it breaks nothing by itself: the replay will not wait there, which may or may not be what was
  // meant.
  const bool refused = is_refusal(call.r.result);
  const Severity accepted = judge.is_relaxed(i) ? Severity::note : Severity::warning;
  finding.severity = judge.window_severity(capture, refused ? Severity::error : accepted);
  // CUDA minds a wait for the capture's own device alone.
  const bool elsewhere = static_cast<Family>(call.r.family) == Family::device_sync &&
                         call.r.device != trace::kNoDevice && capture.device != trace::kNoDevice &&
                         call.r.device != capture.device;
  const std::string what =
      elsewhere ? "waits for all of device " + std::to_string(call.r.device) : waits_for(judge, i);
  finding.killed = judge.killed(i);
  finding.message = "the host " + what + " while " +
                    (judge.killed_any(i) ? "the capture is open" : judge.capture_name(capture) + " is open");
  add_copy(judge, i, finding);
  if (!refused && ends_private_setup(judge, i)) finding.details["setup"] = "yes";
  judge.report(finding);
}

void wait_in_step(Judge& judge, size_t i, const RegionOccurrence& step) {
  Finding finding;
  finding.rule = "host-sync";
  finding.call = i;
  finding.blocks = true;
  finding.phase = Judge::phase_of(step);
  const bool expected = judge.context(i).in_break || judge.is_framework_allocator(i);
  finding.severity = expected ? Severity::note : Severity::error;
  finding.message = "the host " + waits_for(judge, i) + " in the step \"" + step.name + "\"" +
                    (judge.context(i).in_break ? ", in an eager break" : "");
  add_copy(judge, i, finding);
  judge.report(finding);
}

void poll_in_window(Judge& judge, size_t i, const Capture& capture) {
  const Call& call = judge.call(i);
  Finding finding;
  finding.rule = "host-poll";
  finding.call = i;
  finding.capture = static_cast<int32_t>(capture.number);
  finding.severity =
      judge.window_severity(capture, is_refusal(call.r.result) ? Severity::error : Severity::note);
  finding.killed = judge.killed(i);
  finding.message = std::string("the host asks whether ") +
                    (static_cast<Family>(call.r.family) == Family::event_query ? "an event" : "a stream") +
                    " is done while " +
                    (judge.killed_any(i) ? "the capture is open" : judge.capture_name(capture) + " is open");
  judge.report(finding);
}

void poll_in_step(Judge& judge, size_t i, const RegionOccurrence& step) {
  Finding finding;
  finding.rule = "host-poll";
  finding.call = i;
  finding.phase = Judge::phase_of(step);
  finding.severity = judge.context(i).in_break ? Severity::note : Severity::error;
  finding.message =
      std::string("the host asks whether ") +
      (static_cast<Family>(judge.call(i).r.family) == Family::event_query ? "an event" : "a stream") +
      " is done in the step \"" + step.name + "\"";
  judge.report(finding);
}

}  // namespace

void judge_waits(Judge& judge) {
  for (size_t i = 0; i < judge.process().trace.calls.size(); ++i) {
    const Call& call = judge.call(i);
    const auto family = static_cast<Family>(call.r.family);
    const bool wait = trace::is_wait(family), poll = trace::is_poll(family);
    if ((!wait && !poll) || (call.r.flags & trace::kNested)) continue;
    // Its capture was dead already: the consequence of what killed it.
    if (call.r.result == kCaptureInvalidated || judge.is_relaxed_library(i)) continue;
    if (const Capture* capture = judge.window(i)) {
      wait ? wait_in_window(judge, i, *capture) : poll_in_window(judge, i, *capture);
    } else if (const RegionOccurrence* step = judge.region(i)) {
      if (poll && judge.is_framework_allocator(i)) continue;
      wait ? wait_in_step(judge, i, *step) : poll_in_step(judge, i, *step);
    }
  }
}

}  // namespace capgate::analysis
