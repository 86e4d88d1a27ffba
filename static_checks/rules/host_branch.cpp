#include "static_checks/rules/rule.h"

namespace capgate::lint {

Judgement host_branch(const ValueEvent& e) {
  const char* what = "the branch";
  switch (e.use) {
    case Use::loop_condition:
      what = "the loop";
      break;
    case Use::choice:
      what = "the switch";
      break;
    case Use::short_circuit:
      what = "the short-circuit";
      break;
    case Use::ternary:
      what = "the ?: operator";
      break;
    default:
      break;
  }
  return {reports::Severity::error,
          std::string(what) + " depends on a device value (" + e.source + ")",
          {{"use", name(e.use)}}};
}

}  // namespace capgate::lint
