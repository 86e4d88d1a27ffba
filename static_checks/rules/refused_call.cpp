#include "static_checks/rules/rule.h"

namespace capgate::lint {

std::optional<Judgement> refused_call(const CallEvent& e) {
  if (e.api.is != Is::copy || !e.api.batch) return std::nullopt;
  return Judgement{reports::Severity::error,
                   e.callee + " is refused on a stream that captures, and the graph lacks its copies"};
}

}  // namespace capgate::lint
