#include "static_checks/rules/rule.h"

namespace capgate::lint {

std::optional<Judgement> host_poll(const CallEvent& e) {
  // A thread that has made itself relaxed may ask about other streams and events: watchdogs do.
  if (e.api.is != Is::poll || e.relaxed_thread) return std::nullopt;
  return Judgement{reports::Severity::error, e.callee + " asks whether captured work has finished"};
}

}  // namespace capgate::lint
