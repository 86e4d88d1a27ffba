#include "static_checks/rules/rule.h"

namespace capgate::lint {

std::optional<Judgement> host_sync(const CallEvent& e) {
  switch (e.api.is) {
    case Is::wait:
      return Judgement{reports::Severity::error, e.callee + " waits for the device"};
    case Is::device_algorithm:
      if (e.api.waits && e.stream != StreamUse::none)
        return Judgement{reports::Severity::error, e.callee + " waits for its result"};
      return std::nullopt;
    case Is::tensor_read:
    case Is::tensor_to_host:
      if (e.src.memory == Memory::host_tensor) return std::nullopt;
      return Judgement{reports::Severity::error, e.callee + " waits for the tensor's value"};
    case Is::tensor_data_shape:
      if (e.src.memory == Memory::host_tensor) return std::nullopt;
      return Judgement{reports::Severity::error, e.callee + " waits to learn the size of its result"};
    default:
      return std::nullopt;
  }
}

}  // namespace capgate::lint
