#include "static_checks/rules/rule.h"

namespace capgate::lint {

std::optional<Judgement> device_alloc(const CallEvent& e) {
  const bool frees = e.api.is == Is::release;
  if (e.api.is == Is::tensor_new || e.api.allocates) {
    if (!e.capture || e.pooled) return std::nullopt;
    return Judgement{
        reports::Severity::note,
        e.callee + "() takes memory from PyTorch's allocator, which knows nothing of this capture",
        {{"allocator", "torch"}}};
  }
  if (e.api.is == Is::create_handle) {
    // A library handle comes with memory on the device.
    if (e.relaxed_thread) return std::nullopt;
    return Judgement{e.relaxed_capture ? reports::Severity::warning : reports::Severity::error,
                     e.callee + " allocates the library's memory during a capture"};
  }
  if ((e.api.is != Is::allocate && !frees) || e.api.async || e.relaxed_thread) return std::nullopt;
  if (e.api.memory != Memory::device && e.api.memory != Memory::managed) return std::nullopt;
  if (e.relaxed_capture)
    return Judgement{reports::Severity::warning, e.callee + (frees ? " frees" : " allocates") +
                                                     " once, while capturing, and never at replay"};
  return Judgement{
      reports::Severity::error,
      e.callee + (frees ? " frees device memory" : " allocates device memory") + " during a capture"};
}

}  // namespace capgate::lint
