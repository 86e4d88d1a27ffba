#include "static_checks/rules/rule.h"

namespace capgate::lint {

std::span<const NamedCallRule> call_rules() {
  static constexpr NamedCallRule kRules[] = {
      {"host-sync", host_sync},         {"host-poll", host_poll},           {"sync-copy", sync_copy},
      {"pageable-copy", pageable_copy}, {"host-pointer", host_pointer},     {"device-alloc", device_alloc},
      {"host-alloc", host_alloc},       {"default-stream", default_stream}, {"host-node", host_node},
  };
  return kRules;
}

const char* rule_of(Use use) {
  return use >= Use::loop_bound ? "device-sized" : "host-branch";
}

}  // namespace capgate::lint
