#include "static_checks/rules/memory.h"
#include "static_checks/rules/rule.h"

namespace capgate::lint {

std::optional<Judgement> sync_copy(const CallEvent& e) {
  if (e.api.async || e.api.host || e.api.direction == Direction::on_host) return std::nullopt;
  if (e.api.is == Is::copy) {
    Judgement judgement{reports::Severity::error, e.callee + " copies at once instead of being captured"};
    if (const std::string direction = direction_of(e); !direction.empty())
      judgement.details["direction"] = direction;
    return judgement;
  }
  if (e.api.is == Is::set)
    return Judgement{reports::Severity::error, e.callee + " sets memory at once instead of being captured"};
  return std::nullopt;
}

}  // namespace capgate::lint
