#include "detector/analysis/device_refusals.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include "detector/analysis/results.h"
#include "detector/analysis/timeline.h"

namespace capgate::analysis {
namespace {

using trace::Family;

constexpr uint32_t kDriverApi = 1;  // CallRecord::domain
// In place of a device: what CUDA refuses it for is not its device.
constexpr int kNotItsDevice = -2;
static_assert(kNotItsDevice != trace::kNoDevice);

// Contexts by handle and device, each since when it is known to be there: a handle is given out again.
class Contexts {
 public:
  explicit Contexts(const trace::ProcessTrace& trace) {
    for (const auto& call : trace.calls)
      if (call.r.device != trace::kNoDevice) see(call.r.context, call.r.device, call.r.h.seq);
    for (const auto& object : trace.objects)
      if (object.type == trace::RecordType::stream && object.r.device != trace::kNoDevice)
        see(object.r.other, object.r.device, object.r.h.seq);
    // A context's own record comes before its first use and does not name the device.
    for (const auto& object : trace.objects)
      if (object.type == trace::RecordType::context &&
          object.r.op == static_cast<uint16_t>(trace::ObjectOp::made))
        made(object.r.object, object.r.h.seq);
  }

  bool only_one_and_another_devices(int device, uint64_t seq) const {
    size_t on_device = 0, elsewhere = 0;
    for (const auto& [context, since] : since_)
      if (since <= seq) ++(context.second == device ? on_device : elsewhere);
    return on_device <= 1 && elsewhere > 0;
  }

 private:
  void see(uint64_t context, int device, uint64_t seq) {
    const auto [at, fresh] = since_.try_emplace({context, device}, seq);
    if (!fresh) at->second = std::min(at->second, seq);
  }
  void made(uint64_t context, uint64_t seq) {
    std::pair<const std::pair<uint64_t, int>, uint64_t>* next = nullptr;
    for (auto& entry : since_)
      if (entry.first.first == context && entry.second > seq && (!next || entry.second < next->second))
        next = &entry;
    if (next) next->second = seq;
  }

  std::map<std::pair<uint64_t, int>, uint64_t> since_;
};

// Devices of the functions and events that the calls so far tell of.
class Objects {
 public:
  void follow(const Call& call) {
    const auto family = static_cast<Family>(call.r.family);
    if (call.r.result != 0) return;
    if (family == Family::event_destroy) events_[call.r.object] = kNotItsDevice;
    // The only one of the family with a product: an event of another process is opened for the current
    // device.
    if (family == Family::peer && call.r.out != 0) events_[call.r.out] = call.r.device;
    if (family == Family::module_unload) {
      functions_.clear();
      unloaded_ = true;
    }
    if (call.r.object == 0 || call.r.stream_device == trace::kNoDevice) return;
    if (family == Family::event_record) events_[call.r.object] = call.r.stream_device;
    if (family == Family::launch && call.r.domain == kDriverApi) took_function(call);
  }

  // kNoDevice: nothing is known.
  int device_of(const Call& call) const {
    const bool event = call.r.family == static_cast<uint16_t>(Family::event_record);
    const auto& known = event ? events_ : functions_;
    const auto at = known.find(call.r.object);
    if (at != known.end()) return at->second;
    return !event && unloaded_ ? kNotItsDevice : trace::kNoDevice;
  }

 private:
  // What the streams of two devices take is a kernel without a context (CUkernel).
  void took_function(const Call& call) {
    const auto [at, fresh] = functions_.try_emplace(call.r.object, call.r.stream_device);
    if (!fresh && at->second != call.r.stream_device) at->second = kNotItsDevice;
  }

  std::unordered_map<uint64_t, int> events_, functions_;
  bool unloaded_ = false;
};

bool refused_in_live_capture(const Call& call) {
  return call.r.result == kInvalidHandle && (call.r.flags & trace::kCapturing) != 0 && call.r.object != 0 &&
         call.r.stream_device != trace::kNoDevice;
}

std::optional<DeviceRefusal> refusal_of(const Call& call, const Objects& objects, const Contexts& contexts) {
  const int stream = call.r.stream_device;
  const auto family = static_cast<Family>(call.r.family);
  if (family == Family::launch && call.r.domain != kDriverApi) {
    // By the kernel's symbol. A runtime that looks it up for the stream's device is never refused for that,
    // an older one looks it up for the current device.
    if (call.r.device == trace::kNoDevice || call.r.device == stream) return std::nullopt;
    return DeviceRefusal{stream, call.r.device};
  }
  if (family != Family::launch && family != Family::event_record) return std::nullopt;
  const int object = objects.device_of(call);
  if (object == kNotItsDevice || object == stream) return std::nullopt;
  if (object == trace::kNoDevice && !contexts.only_one_and_another_devices(stream, call.r.h.seq))
    return std::nullopt;
  return DeviceRefusal{stream, object};
}

}  // namespace

std::map<size_t, DeviceRefusal> refused_for_their_device(const trace::ProcessTrace& trace) {
  std::map<size_t, DeviceRefusal> refused;
  std::optional<Contexts> contexts;  // most runs have no such call
  Objects objects;
  for (size_t i = 0; i < trace.calls.size(); ++i) {
    const Call& call = trace.calls[i];
    if (call.r.flags & trace::kNested) continue;
    objects.follow(call);
    if (!refused_in_live_capture(call)) continue;
    if (!contexts) contexts.emplace(trace);
    if (const auto refusal = refusal_of(call, objects, *contexts)) refused[i] = *refusal;
  }
  return refused;
}

}  // namespace capgate::analysis
