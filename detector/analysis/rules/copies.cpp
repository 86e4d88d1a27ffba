// sync-copy and pageable-copy: copies that run at once instead of being captured, or that name host memory
// which a replay reads or writes again.
#include <cstdio>

#include "detector/analysis/copy_operands.h"
#include "detector/analysis/dropped_calls.h"
#include "detector/analysis/host_lifetime.h"
#include "detector/analysis/judge.h"
#include "detector/analysis/results.h"
#include "detector/trace/families.h"

namespace capgate::analysis {
namespace {

using reports::Severity;
using trace::Family;
using trace::HostPlace;

// Work that the capture holds already when the call comes: it waits in the graph and has not run.
bool holds_work_before(Judge& judge, const Capture& capture, size_t i) {
  for (size_t k = capture.begin + 1; k < i; ++k) {
    const Call& call = judge.call(k);
    if (call.r.result == 0 && trace::is_work(static_cast<Family>(call.r.family)) &&
        judge.context(k).stream_capture == static_cast<int32_t>(capture.number))
      return true;
  }
  return false;
}

void sync_copy(Judge& judge, size_t i) {
  const Call& call = judge.call(i);
  const bool set = static_cast<Family>(call.r.family) == Family::memset_sync;
  const bool waits = !set && !is_device_to_device(judge.timeline(), call.r);
  const std::string what = std::string(set ? "sets " : "copies ").append(kSizeMark);
  Finding finding;
  finding.rule = "sync-copy";
  finding.call = i;
  if (const std::string direction = direction_text(judge.timeline(), call.r); !set && !direction.empty())
    finding.details["direction"] = direction;
  finding.bytes = finding.size = call.r.bytes;
  finding.blocks = waits;
  if (const Capture* capture = judge.window(i)) {
    finding.capture = static_cast<int32_t>(capture->number);
    finding.severity = judge.window_severity(*capture, Severity::error);
    const bool refused = is_refusal(call.r.result);
    if (refused) finding.killed = judge.killed(i);
    if (refused)
      finding.message = what + " on the legacy default stream";
    else
      finding.message =
          what + " at once: it is not in " + judge.capture_name(*capture) +
          (set                                     ? ", and no replay sets them again"
           : holds_work_before(judge, *capture, i) ? ", and the work captured before it has not run"
                                                   : "");
  } else if (const RegionOccurrence* step = judge.region(i)) {
    finding.phase = Judge::phase_of(*step);
    finding.severity = judge.context(i).in_break ? Severity::note : Severity::error;
    finding.message = what +
                      (waits ? ": the host waits for it in the step \"" : ": a capture of the step \"") +
                      step->name + (waits ? "\"" : "\" would leave it out");
  } else {
    return;
  }
  judge.report(finding);
}

// What the process itself found before each launch: the memory still there, or gone before one of them.
enum class Found { nothing, there, gone };

Found found_at_launches(Judge& judge, size_t i, bool reads) {
  Found found = Found::nothing;
  for (const auto& operand : judge.process().trace.host_operands) {
    if (operand.r.copy_seq != judge.call(i).r.h.seq || (operand.r.is_source != 0) != reads) continue;
    if (static_cast<trace::OperandState>(operand.r.state) == trace::OperandState::gone) return Found::gone;
    found = Found::there;
  }
  return found;
}

// torch 2.11 was seen to raise an error where a captured copy has a CPU tensor that is not pinned; 2.9 and
// older put the address into the graph.
bool torch_refuses(Judge& judge, size_t i) {
  constexpr std::pair<int, int> kFirst{2, 11};
  if (!judge.place(i).caller_module.starts_with("libtorch")) return false;
  const auto known = judge.trace().program.find("torch");
  const std::string version =
      known != judge.trace().program.end() ? known->second : std::string(judge.process().trace.fact("torch"));
  int major = 0, minor = 0;
  return std::sscanf(version.c_str(), "%d.%d", &major, &minor) == 2 && std::pair(major, minor) >= kFirst;
}

void pageable_copy(Judge& judge, size_t i) {
  const Call& call = judge.call(i);
  const bool reads = reads_pageable(judge.timeline(), call.r);
  const auto place = static_cast<HostPlace>(reads ? call.r.src_place : call.r.dst_place);
  Finding finding;
  finding.rule = "pageable-copy";
  finding.call = i;
  finding.bytes = finding.size = call.r.bytes;
  finding.details["host memory"] = host_memory(place);
  finding.details["direction"] = reads ? "host to device" : "device to host";
  const std::string what =
      std::string("copies ").append(kSizeMark) + (reads ? " from " : " into ") + host_memory(place);
  if (const Capture* capture = judge.window(i)) {
    // A stream outside the capture: escaped-work speaks of it, the address is in no graph.
    if (judge.context(i).stream_capture == kNone && !is_refusal(call.r.result)) return;
    const Found found = found_at_launches(judge, i, reads);
    const bool launched = capture->state == CaptureState::completed && capture->launches > 0;
    const bool gone = launched && found == Found::gone;
    const std::string ended = launched && found == Found::there && place == HostPlace::stack
                                  ? built_in_and_ended(judge, *capture, i)
                                  : "";
    const bool alive = launched && !gone && ended.empty() &&
                       (found == Found::there ||
                        is_alive_at_launches(judge, *capture, i, place, reads ? call.r.src : call.r.dst));
    finding.capture = static_cast<int32_t>(capture->number);
    finding.severity = judge.window_severity(*capture, alive ? Severity::warning : Severity::error);
    finding.killed = judge.killed(i);
    finding.message = what + " that every replay will " + (reads ? "read" : "write") + " again";
    if (gone) finding.message += "; it was gone when the graph was launched";
    if (!ended.empty())
      finding.message +=
          "; it is not shown to live until the launch: " + ended + ", which may own it, had ended";
    if (alive) {
      finding.details["at each launch"] = "alive";
      finding.message += "; it was alive at each launch";
    }
  } else if (const RegionOccurrence* step = judge.region(i)) {
    finding.phase = Judge::phase_of(*step);
    finding.severity = judge.context(i).in_break ? Severity::note : Severity::error;
    finding.blocks = blocks_host(judge.timeline(), call);
    const bool refused = torch_refuses(judge, i);
    if (refused) finding.details["in a capture"] = "refused by torch";
    finding.message = what + " in the step \"" + step->name + "\": " +
                      (!reads    ? "the host waits for it"
                       : refused ? "torch refuses that in a capture"
                                 : "a graph would keep the host address, not the bytes");
  } else {
    return;
  }
  judge.report(finding);
}

}  // namespace

void judge_copies(Judge& judge) {
  for (size_t i = 0; i < judge.process().trace.calls.size(); ++i) {
    const Call& call = judge.call(i);
    const auto family = static_cast<Family>(call.r.family);
    if ((call.r.flags & trace::kNested) || call.r.result == kCaptureInvalidated ||
        judge.is_relaxed_library(i))
      continue;
    if (family == Family::memcpy_sync || family == Family::memset_sync) {
      // A call that failed for a reason of its own copied nothing.
      const bool done = call.r.result == 0 || call.r.result == trace::kPending || is_refusal(call.r.result);
      if (done && call.r.bytes > 0) sync_copy(judge, i);
    } else if (family == Family::memcpy_async && call.r.bytes > 0) {
      const bool pageable =
          reads_pageable(judge.timeline(), call.r) || writes_pageable(judge.timeline(), call.r);
      const bool legacy_in_window = judge.window(i) && (call.r.flags & trace::kLegacyStream);
      if (was_dropped(judge.timeline(), i)) continue;  // the address is in no graph
      if (pageable && !legacy_in_window && !judge.wait_of_copy.contains(i)) pageable_copy(judge, i);
    }
  }
}

}  // namespace capgate::analysis
