#include "detector/analysis/device_refusals.h"

#include <cstdint>
#include <set>
#include <unordered_map>

#include "detector/analysis/results.h"
#include "detector/analysis/timeline.h"

namespace capgate::analysis {
namespace {

using trace::Family;

constexpr uint32_t kDriverApi = 1;  // CallRecord::domain
constexpr int kDestroyed = -2;      // in place of a device
static_assert(kDestroyed != trace::kNoDevice);

// The runtime launches by the kernel's symbol, which it looks up for the stream's device; the driver by a
// function, which is of one context.
bool names_object_of_a_device(const Call& call) {
  const auto family = static_cast<Family>(call.r.family);
  return call.r.object != 0 && call.r.stream_device != trace::kNoDevice &&
         (family == Family::event_record || (family == Family::launch && call.r.domain == kDriverApi));
}

bool refused_in_live_capture(const Call& call) {
  return call.r.result == kInvalidHandle && (call.r.flags & trace::kCapturing) != 0;
}

}  // namespace

std::map<size_t, DeviceRefusal> refused_for_their_device(const trace::ProcessTrace& trace) {
  std::map<size_t, DeviceRefusal> refused;
  std::set<int> in_use;
  std::unordered_map<uint64_t, int> device_of;  // functions and events
  for (size_t i = 0; i < trace.calls.size(); ++i) {
    const Call& call = trace.calls[i];
    if (call.r.device != trace::kNoDevice) in_use.insert(call.r.device);
    if (call.r.flags & trace::kNested) continue;
    if (call.r.family == static_cast<uint16_t>(Family::event_destroy) && call.r.result == 0)
      device_of[call.r.object] = kDestroyed;
    if (!names_object_of_a_device(call)) continue;
    if (call.r.result == 0) device_of[call.r.object] = call.r.stream_device;
    if (!refused_in_live_capture(call)) continue;
    const auto known = device_of.find(call.r.object);
    refused[i] = {call.r.stream_device, known == device_of.end() ? trace::kNoDevice : known->second};
  }
  std::erase_if(refused, [&](const auto& entry) {
    const auto [stream, object] = entry.second;
    if (object == trace::kNoDevice) return in_use.size() == in_use.count(stream);
    return object == stream || object == kDestroyed;
  });
  return refused;
}

}  // namespace capgate::analysis
