#include "static_checks/rules/rule.h"

namespace capgate::lint {

std::optional<Judgement> host_alloc(const CallEvent& e) {
  if (e.relaxed_thread) return std::nullopt;
  const bool pinned = (e.api.is == Is::allocate || e.api.is == Is::release) && e.api.memory == Memory::pinned;
  const bool registers = e.api.is == Is::enlist || e.api.is == Is::unlist;
  if (!pinned && !registers) return std::nullopt;
  const char* what = e.api.is == Is::allocate ? " allocates pinned memory" : " frees pinned memory";
  if (registers) what = " changes the registration of host memory";
  if (e.relaxed_capture)
    return Judgement{reports::Severity::warning,
                     e.callee + what + " once, while capturing, and never at replay"};
  return Judgement{reports::Severity::error, e.callee + what + " during a capture"};
}

}  // namespace capgate::lint
