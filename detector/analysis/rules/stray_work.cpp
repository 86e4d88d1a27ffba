// default-stream, escaped-work, wrong-device, empty-graph: work of a capturing thread that is not in its
// graph. CUDA says nothing about it unless the capture's stream is a blocking one, or what it was given is of
// another device than its stream.
#include <algorithm>
#include <map>
#include <optional>

#include "detector/analysis/judge.h"
#include "detector/analysis/kernel_name.h"
#include "detector/analysis/private_setup.h"
#include "detector/analysis/results.h"
#include "detector/trace/families.h"

namespace capgate::analysis {
namespace {

using reports::Severity;
using trace::Family;

enum class Stray { no, legacy, other_stream, other_device, refused };

struct Escaped {
  size_t call = 0;
  Stray stray = Stray::no;
  bool fork_refused = false;  // its stream waited for an event whose record was refused
};

int device_of(const Call& call) {
  return call.r.stream_device != trace::kNoDevice ? call.r.stream_device : call.r.device;
}

Stray stray_of(Judge& judge, size_t i, const Capture& capture) {
  if (judge.device_refusals.contains(i)) return Stray::refused;
  const Call& call = judge.call(i);
  const auto family = static_cast<Family>(call.r.family);
  const bool legacy = (call.r.flags & trace::kLegacyStream) ||
                      ((call.r.flags & trace::kHasStreamArg) && stream_key(call) == 0);
  // A refused wait or record on the legacy stream is the same slip as a refused launch.
  const bool touches = is_work(family) || (legacy && is_refusal(call.r.result) &&
                                           (family == Family::event_record || family == Family::stream_wait));
  if (!touches || !(legacy || (call.r.flags & trace::kHasStreamArg))) return Stray::no;
  if (judge.context(i).stream_capture != kNone) return Stray::no;
  if (call.r.result != 0 && call.r.result != trace::kPending && !(legacy && is_refusal(call.r.result)))
    return Stray::no;
  const int device = device_of(call);
  if (!is_refusal(call.r.result) && device != trace::kNoDevice && capture.device != trace::kNoDevice &&
      device != capture.device)
    return Stray::other_device;
  return legacy ? Stray::legacy : Stray::other_stream;
}

// `size`: kSizeMark, or what this call has.
std::string work_text(Judge& judge, size_t i, std::string_view size) {
  const Call& call = judge.call(i);
  switch (static_cast<Family>(call.r.family)) {
    case Family::launch: {
      const auto kernel = judge.process().trace.text(call.r.label);
      return kernel.empty() ? std::string("a kernel") : "the kernel " + kernel_name(kernel).substr(0, 120);
    }
    case Family::memcpy_async:
      return std::string("a copy of ").append(size);
    case Family::memset_async:
      return std::string("a memset of ").append(size);
    case Family::graph_launch:
      return "a graph";
    case Family::host_func:
      return "a host function";
    case Family::event_record:
      return "an event record";
    case Family::stream_wait:
      return "a wait for an event";
    default:
      return "work (" + std::string(judge.timeline().name(call)) + ")";
  }
}

std::string work_text(Judge& judge, size_t i) {
  const uint64_t bytes = judge.call(i).r.bytes;
  return work_text(judge, i, size_text(bytes, bytes));
}

// Where the work went that a capture should have caught: another stream, or another device.
std::string went_instead(Judge& judge, size_t i, const Capture& capture, Stray stray) {
  if (stray != Stray::other_device) return " went to " + judge.stream_name(i) + " instead";
  return " went to device " + std::to_string(device_of(judge.call(i))) +
         " instead; the capture's stream is on device " + std::to_string(capture.device);
}

std::string refusal_text(Judge& judge, size_t i) {
  const DeviceRefusal& refusal = judge.device_refusals.at(i);
  const bool event = judge.call(i).r.family == static_cast<uint16_t>(Family::event_record);
  const std::string stream = "device " + std::to_string(refusal.stream_device);
  return " was refused with " + result_text(judge.call(i).r.result, judge.timeline().name(judge.call(i))) +
         ": its " + (event ? "event" : "function") +
         (refusal.object_device == trace::kNoDevice
              ? " is of another device than its stream, which is of " + stream
              : " is of device " + std::to_string(refusal.object_device) + ", and its stream of " + stream) +
         (event ? "; a wait for that event orders nothing" : "; it is not in the graph");
}

// Streams that wait for an event whose record was refused: they wait for nothing and are not in the capture.
class ForksThatFailed {
 public:
  void see(Judge& judge, size_t i) {
    const Call& call = judge.call(i);
    const auto family = static_cast<Family>(call.r.family);
    if (family == Family::event_record) {
      if (judge.device_refusals.contains(i))
        refused_[call.r.object] = i;
      else if (call.r.result == 0)
        refused_.erase(call.r.object);
    } else if (family == Family::stream_wait && call.r.result == 0) {
      const auto record = refused_.find(call.r.object);
      if (record != refused_.end())
        streams_[stream_key(call)] = record->second;
      else
        streams_.erase(stream_key(call));
    }
  }
  // The refused record that the call's stream waited for.
  std::optional<size_t> of(const Call& call) const {
    const auto stream = streams_.find(stream_key(call));
    return stream == streams_.end() ? std::nullopt : std::optional(stream->second);
  }

 private:
  std::map<uint64_t, size_t> refused_;  // by event
  std::map<uint64_t, size_t> streams_;
};

void report_stray(Judge& judge, const Escaped& escaped, const Capture& capture) {
  const auto [i, stray, fork_refused] = escaped;
  Finding finding;
  finding.call = i;
  finding.capture = static_cast<int32_t>(capture.number);
  finding.severity = judge.window_severity(capture, Severity::error);
  finding.size = judge.call(i).r.bytes;
  const std::string what = work_text(judge, i, kSizeMark);
  if (stray == Stray::legacy) {
    finding.rule = "default-stream";
    const bool refused = is_refusal(judge.call(i).r.result);
    if (refused) finding.killed = judge.killed(i);
    finding.message = what + " went to the legacy default stream" +
                      (refused ? "" : ": it ran once and is not in " + judge.capture_name(capture));
  } else if (stray == Stray::other_stream) {
    finding.rule = "escaped-work";
    const bool setup = is_private_setup(judge, i);
    if (setup) {
      finding.severity = Severity::note;
      finding.details["setup"] = "yes";
    }
    finding.message = what + " went to " + judge.stream_name(i) + ", which " + judge.capture_name(capture) +
                      " does not include: it ran once and is not in the graph" +
                      (setup ? ", and the thread, in relaxed mode, waited for it" : "");
    if (fork_refused) finding.details["fork"] = "refused";
  } else if (stray == Stray::other_device) {
    finding.rule = "wrong-device";
    finding.message = what + " went to device " + std::to_string(device_of(judge.call(i))) + ", and " +
                      judge.capture_name(capture) + " is on device " + std::to_string(capture.device) +
                      ": it ran once and is not in the graph";
  } else {
    finding.rule = "wrong-device";
    finding.killed = judge.killed(i);
    finding.message = what + refusal_text(judge, i);
    if (const int current = judge.call(i).r.device; current != trace::kNoDevice)
      finding.details["current device"] = std::to_string(current);
  }
  judge.report(finding);
}

// Nothing at all of what the thread sent is in the graph: the capture is on the wrong stream or device, which
// is one fault.
void report_empty(Judge& judge, const Capture& capture, const std::vector<Escaped>& escaped) {
  Finding finding;
  finding.rule = "empty-graph";
  finding.capture = static_cast<int32_t>(capture.number);
  finding.call = escaped.empty() ? *capture.end : escaped.front().call;
  if (escaped.empty()) {
    finding.severity = Severity::note;
    finding.message =
        judge.capture_name(capture) + " ended with no work in it, and its thread sent none meanwhile";
    finding.whole_process = true;
  } else {
    finding.severity = judge.window_severity(capture, Severity::error);
    const size_t first = escaped.front().call;
    finding.details["went to"] =
        escaped.front().stray == Stray::other_device ? "another device" : "another stream";
    finding.message = judge.capture_name(capture) + " is empty: " + work_text(judge, first) +
                      (escaped.size() > 1 ? " and " + std::to_string(escaped.size() - 1) + " more" : "") +
                      went_instead(judge, first, capture, escaped.front().stray);
    for (size_t n = 0; n < escaped.size() && n < 8; ++n) {
      const auto& at = judge.place(escaped[n].call).location;
      finding.details["outside " + std::to_string(n + 1)] =
          work_text(judge, escaped[n].call) + " at " + at.file + ":" + std::to_string(at.line);
    }
    finding.more_stacks.emplace_back(reports::StackRole::origin, capture.begin);
  }
  judge.report(finding);
}

// PyTorch's own: torch.compile captures nothing to make the memory pool of the graphs that follow.
bool is_librarys_own(Judge& judge, const Capture& capture) {
  if (capture.launches > 0) return false;
  for (const auto& frame : judge.place(*capture.end).frames) {
    if (frame.language != reports::FrameLanguage::python || frame.file.starts_with("torch/cuda/")) continue;
    return frame.file.starts_with("torch/_");
  }
  return false;
}

}  // namespace

void judge_stray_work(Judge& judge) {
  std::vector<std::vector<Escaped>> strays(judge.timeline().captures.size());
  ForksThatFailed forks;
  for (size_t i = 0; i < judge.process().trace.calls.size(); ++i) {
    const Call& call = judge.call(i);
    const Capture* capture = judge.window(i);
    if (!capture || (call.r.flags & trace::kNested) || judge.is_relaxed_library(i)) continue;
    forks.see(judge, i);
    const Stray stray = stray_of(judge, i, *capture);
    if (stray == Stray::no) continue;
    const auto record = stray == Stray::other_stream ? forks.of(call) : std::nullopt;
    strays[capture->number].push_back({i, stray, record.has_value()});
    if (record) judge.follows({"escaped-work", i}, {"wrong-device", *record});
  }
  for (const auto& capture : judge.timeline().captures) {
    auto& found = strays[capture.number];
    if (capture.state == CaptureState::empty) {
      const bool all_escaped = std::all_of(found.begin(), found.end(), [](const Escaped& stray) {
        return stray.stray == Stray::other_stream || stray.stray == Stray::other_device;
      });
      // A synchronous copy is work too, and has its own rule.
      const bool copied = std::any_of(
          judge.process().trace.calls.begin(), judge.process().trace.calls.end(), [&](const Call& call) {
            const auto family = static_cast<Family>(call.r.family);
            return call.tid == capture.tid && call.r.h.seq > capture.begin_seq &&
                   call.r.h.seq < capture.end_seq && call.r.bytes > 0 &&
                   (family == Family::memcpy_sync || family == Family::memset_sync);
          });
      if (found.empty() && !copied && is_librarys_own(judge, capture)) continue;
      if (all_escaped && !(found.empty() && copied)) {
        report_empty(judge, capture, found);
        continue;
      }
    }
    for (const auto& escaped : found) report_stray(judge, escaped, capture);
  }
}

}  // namespace capgate::analysis
