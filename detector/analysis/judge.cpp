#include "detector/analysis/judge.h"

#include <algorithm>

#include "detector/analysis/thread_name.h"
#include "detector/trace/families.h"

namespace capgate::analysis {
namespace {

using reports::Severity;
using trace::Family;
using trace::is_memory;

// Named by the program's files or by the process; an older trace only has the frames.
bool loads_torch(const seal::SealedTrace& trace, const seal::Process& process) {
  if (trace.program.contains("torch") || !process.trace.fact("torch").empty() ||
      !process.trace.fact("torch.blocks").empty())
    return true;
  return std::any_of(trace.frames.begin(), trace.frames.end(), [](const reports::Frame& frame) {
    return frame.module.starts_with("libtorch") || frame.module.starts_with("libc10") ||
           frame.file.starts_with("torch/");
  });
}

}  // namespace

Judge::Judge(const seal::SealedTrace& trace, const seal::Process& process, const Timeline& timeline,
             Places& places, const reports::Settings& settings, Findings& findings)
    : trace_(trace),
      process_(process),
      timeline_(timeline),
      places_(places),
      settings_(settings),
      findings_(findings) {
  device_refusals = refused_for_their_device(process.trace);
  torch_ = loads_torch(trace, process);
  region_steps_ = region_steps(timeline);
  pair_copies_with_waits();
}

const Place& Judge::place(size_t i) {
  const auto& r = call(i).r;
  return places_.at(r.stack, r.python_stack, process_.trace.text(r.label));
}

const Place& Judge::place(const Elsewhere& at) {
  return places_.at(at.stack, at.python_stack, "");
}

const Capture* Judge::window(size_t i) const {
  const int32_t id = context(i).window;
  return id == kNone ? nullptr : &timeline_.captures[static_cast<size_t>(id)];
}

const RegionOccurrence* Judge::region(size_t i) const {
  if (context(i).window != kNone || context(i).region == kNone) return nullptr;
  const auto& occurrence = timeline_.regions[static_cast<size_t>(context(i).region)];
  return occurrence.has_capture ? nullptr : &occurrence;
}

bool Judge::goes_on(const RegionOccurrence& occurrence) const {
  return std::any_of(timeline_.regions.begin(), timeline_.regions.end(), [&](const RegionOccurrence& other) {
    return other.number > occurrence.number && other.tid == occurrence.tid && other.name == occurrence.name;
  });
}

bool Judge::is_relaxed(size_t i) const {
  constexpr uint8_t kRelaxed = 2;
  return call(i).r.result == 0 && call(i).r.thread_mode == kRelaxed;
}

bool Judge::is_relaxed_library(size_t i) {
  return is_relaxed(i) && place(i).known && !place(i).user_called;
}

bool Judge::is_framework_allocator(size_t i) {
  const Place& at = place(i);
  if (at.user_called) return false;
  const auto family = static_cast<Family>(call(i).r.family);
  // What the program asked for through torch (a stream's query, a copy) comes from the same libraries: only
  // memory is the allocators' alone.
  const bool torch =
      at.caller_module.starts_with("libc10_cuda") || at.caller_module.starts_with("libtorch_cuda");
  if (torch && is_memory(family)) return true;
  constexpr size_t kNear = 12;
  for (size_t f = 0; f < at.frames.size() && f < kNear; ++f) {
    if (at.frames[f].language == reports::FrameLanguage::python) return false;
    const std::string_view name = at.frames[f].function;
    if (name.find("CachingAllocator") != std::string_view::npos ||
        name.find("CachingHostAllocator") != std::string_view::npos ||
        name.find("DeviceCachingAllocator") != std::string_view::npos)
      return true;
  }
  return false;
}

Severity Judge::window_severity(const Capture& capture, Severity full) const {
  if (capture.state == CaptureState::failed) return capture.retried ? Severity::note : full;
  if (capture.state == CaptureState::open || timeline_.detached) return full;
  return capture.launches == 0 ? Severity::note : full;
}

std::string Judge::capture_id(const Capture& capture) const {
  return std::to_string(process_.trace.pid) + ":" + std::to_string(capture.number + 1);
}

std::string Judge::capture_name(const Capture& capture) const {
  return analysis::capture_name(timeline_, capture);
}

std::string Judge::stream_name(size_t i) const {
  const auto label = timeline_.stream_labels.find(stream_key(call(i)));
  return label == timeline_.stream_labels.end() ? "a stream" : label->second;
}

std::string Judge::thread_name(uint32_t tid) const {
  return analysis::thread_name(timeline_, tid);
}

std::string Judge::killed(size_t i) const {
  std::string out;
  for (const auto& capture : timeline_.captures)
    if (capture.killer && *capture.killer == i) out += (out.empty() ? "" : " and ") + capture_name(capture);
  return out;
}

double Judge::blocked_us_with_its_copy(size_t i) const {
  double blocked = blocked_us(call(i));
  if (const auto copy = copy_of_wait.find(i);
      copy != copy_of_wait.end() && blocks_host(timeline_, call(copy->second)))
    blocked += blocked_us(call(copy->second));
  return blocked;
}

std::string host_memory(trace::HostPlace place) {
  switch (place) {
    case trace::HostPlace::stack:
      return "stack memory";
    case trace::HostPlace::heap:
      return "heap memory";
    case trace::HostPlace::module_data:
      return "static data";
    case trace::HostPlace::mapping:
      return "mapped memory";
    case trace::HostPlace::unknown:
      break;
  }
  return "pageable memory";
}

}  // namespace capgate::analysis
