#include "static_checks/rules/rule.h"

namespace capgate::lint {

std::optional<Judgement> host_node(const CallEvent& e) {
  if (e.api.is != Is::host_function) return std::nullopt;
  if (e.api.refused)
    return Judgement{reports::Severity::error, e.callee + " cannot be captured: CUDA refuses it"};
  return Judgement{reports::Severity::warning, e.callee + " puts a host callback into the graph"};
}

}  // namespace capgate::lint
