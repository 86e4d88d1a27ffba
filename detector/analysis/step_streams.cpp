#include "detector/analysis/step_streams.h"

#include "detector/trace/families.h"

namespace capgate::analysis {
namespace {

using trace::Family;

Family family_of(const Call& call) {
  return static_cast<Family>(call.r.family);
}

bool names_stream(const Call& call) {
  return (call.r.flags & (trace::kHasStreamArg | trace::kLegacyStream)) != 0;
}

}  // namespace

StepStreams::StepStreams(const Timeline& timeline) : timeline_(timeline) {
  recorded_on_.resize(timeline.trace->calls.size());
  std::map<uint64_t, uint64_t> last;  // event -> stream
  for (size_t i = 0; i < recorded_on_.size(); ++i) {
    const Call& call = timeline.call(i);
    if (family_of(call) == Family::event_record && call.r.result == 0) last[call.r.object] = stream_key(call);
    if (family_of(call) != Family::event_sync) continue;
    if (const auto stream = last.find(call.r.object); stream != last.end()) recorded_on_[i] = stream->second;
  }
  constexpr uint64_t kNonBlocking = 1;
  for (const auto& object : timeline.trace->objects)
    if (object.type == trace::RecordType::stream &&
        object.r.op == static_cast<uint16_t>(trace::ObjectOp::made))
      made_[object.r.object].push_back({object.r.h.seq, (object.r.flags & kNonBlocking) == 0});
}

std::optional<uint64_t> StepStreams::waited_for(size_t i) const {
  const Call& call = timeline_.call(i);
  return family_of(call) == Family::stream_sync ? std::optional(stream_key(call)) : recorded_on_[i];
}

std::string StepStreams::used_by(const std::vector<Step>& steps) const {
  std::set<uint64_t> used;
  for (const Step& step : steps)
    for (size_t i = step.from; i <= step.to; ++i) {
      const Call& call = timeline_.call(i);
      if (call.tid != step.tid) continue;
      // It is for all streams, and kernels between replays are not recorded: any of them may have work.
      if (family_of(call) == Family::device_sync) return "several streams";
      if (const auto stream = waited_for(i)) used.insert(*stream);
      // A synchronous copy is on the legacy stream only because it names none.
      const bool copy = family_of(call) == Family::memcpy_sync || family_of(call) == Family::memset_sync;
      if (trace::is_work(family_of(call)) && names_stream(call) && !copy) used.insert(stream_key(call));
    }
  return used.size() == 1 ? "one stream" : "several streams";
}

std::optional<bool> StepStreams::is_blocking(uint64_t stream, uint64_t seq) const {
  if (stream == 0) return true;
  std::optional<bool> blocking;
  if (const auto made = made_.find(stream); made != made_.end())
    for (const Made& one : made->second)
      if (one.seq <= seq) blocking = one.blocking;
  return blocking;
}

std::string StepStreams::launched_on(const std::vector<Step>& steps) const {
  std::map<uint64_t, std::optional<bool>> kinds;
  for (const Step& step : steps) {
    const Call& launch = timeline_.call(step.from);
    const auto [kind, fresh] = kinds.try_emplace(stream_key(launch));
    if (fresh) kind->second = is_blocking(kind->first, launch.r.h.seq);
  }
  bool blocking = true, non_blocking = true;
  for (const auto& [stream, kind] : kinds) {
    if (kind != std::optional(true)) blocking = false;
    if (kind != std::optional(false)) non_blocking = false;
  }
  if (kinds.empty() || (!blocking && !non_blocking)) return "";
  return blocking ? "a blocking stream" : "a non-blocking stream";
}

bool StepStreams::copy_waits_too(const Step& step, size_t wait) const {
  const auto stream = waited_for(wait);
  if (!stream || is_blocking(*stream, timeline_.call(wait).r.h.seq) != std::optional(true)) return false;
  for (size_t i = wait + 1; i < step.to; ++i) {
    const Call& call = timeline_.call(i);
    if (call.tid != step.tid || (call.r.flags & trace::kNested)) continue;
    return family_of(call) == Family::memcpy_sync && is_host_wait(timeline_, call);
  }
  return false;
}

}  // namespace capgate::analysis
