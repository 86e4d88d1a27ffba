#include <array>

#include "static_checks/rules/rule.h"

namespace capgate::lint {

std::span<const NamedCallRule> call_rules() {
  static constexpr NamedCallRule kRules[] = {
      {"host-sync", host_sync},         {"host-poll", host_poll},           {"sync-copy", sync_copy},
      {"pageable-copy", pageable_copy}, {"host-pointer", host_pointer},     {"device-alloc", device_alloc},
      {"host-alloc", host_alloc},       {"default-stream", default_stream}, {"host-node", host_node},
      {"refused-call", refused_call},
  };
  return kRules;
}

const char* name(Use use) {
  static constexpr std::array kNames{
      "condition",         "loop_condition", "choice", "short_circuit", "ternary",    "early_exit",
      "loop_bound",        "grid",           "index",  "size",          "allocation", "container_size",
      "pointer_arithmetic"};
  static_assert(kNames.size() == static_cast<size_t>(Use::pointer_arithmetic) + 1);
  return kNames[static_cast<size_t>(use)];
}

const char* rule_of(Use use) {
  return use >= Use::loop_bound ? "device-sized" : "host-branch";
}

}  // namespace capgate::lint
