#include "static_checks/rules/rule.h"

namespace capgate::lint {

Judgement device_sized(const ValueEvent& e) {
  const char* what = "the size";
  switch (e.use) {
    case Use::loop_bound:
      what = "the loop bound";
      break;
    case Use::grid:
      what = "the launch configuration";
      break;
    case Use::index:
      what = "the index";
      break;
    case Use::allocation:
      what = "the size of the allocation";
      break;
    case Use::container_size:
      what = "the size of the container";
      break;
    case Use::pointer_arithmetic:
      what = "the offset";
      break;
    default:
      break;
  }
  return {reports::Severity::error,
          std::string(what) + " is a device value (" + e.source + ")",
          {{"use", name(e.use)}}};
}

}  // namespace capgate::lint
