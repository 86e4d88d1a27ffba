#include "static_checks/rules/rule.h"

namespace capgate::lint {

std::optional<Judgement> refused_call(const CallEvent& e) {
  if (e.api.is != Is::copy || !e.api.batch) return std::nullopt;
  // Measured of batches of plain copies; of 3D ones it is only likely.
  if (e.callee.find("3D") != std::string::npos)
    return Judgement{
        reports::Severity::warning,
        e.callee + " is probably refused on a stream that captures, as other batched copies are"};
  return Judgement{reports::Severity::error,
                   e.callee + " is refused on a stream that captures, and the graph lacks its copies"};
}

}  // namespace capgate::lint
