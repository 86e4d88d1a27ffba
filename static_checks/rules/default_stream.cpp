#include "static_checks/rules/rule.h"

namespace capgate::lint {

std::optional<Judgement> default_stream(const CallEvent& e) {
  // An eager step may run on the default stream; with per-thread default streams it is not the legacy one.
  if (!e.capture || e.default_is_per_thread) return std::nullopt;
  switch (e.api.is) {
    case Is::launch:
    case Is::host_function:
      break;
    case Is::copy:
    case Is::set:
    case Is::allocate:
    case Is::release:
      if (!e.api.async) return std::nullopt;
      break;
    case Is::begin_capture:
      if (e.stream != StreamUse::legacy && e.stream != StreamUse::none) return std::nullopt;
      return Judgement{reports::Severity::error,
                       e.callee + " is given the legacy default stream, which cannot capture"};
    case Is::library_work:
    case Is::source:
      if (e.handle == HandleStream::none)
        return Judgement{
            reports::Severity::error,
            e.callee + " runs on the legacy default stream: its handle was never given a stream"};
      break;
    case Is::device_algorithm:
      if (e.stream == StreamUse::none)
        return Judgement{reports::Severity::error,
                         e.callee + " runs on the legacy default stream: no execution policy names a stream"};
      return std::nullopt;
    default:
      return std::nullopt;
  }
  if (e.stream == StreamUse::none)
    return Judgement{reports::Severity::error,
                     e.callee + " has no stream, so it runs on the legacy default stream"};
  if (e.stream == StreamUse::legacy)
    return Judgement{reports::Severity::error, e.callee + " is given the legacy default stream"};
  return std::nullopt;
}

}  // namespace capgate::lint
