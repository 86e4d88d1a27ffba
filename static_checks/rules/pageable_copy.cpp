#include <tuple>

#include "static_checks/rules/memory.h"
#include "static_checks/rules/rule.h"

namespace capgate::lint {

bool is_pageable(Memory memory) {
  return memory == Memory::stack || memory == Memory::container || memory == Memory::host_heap;
}

const char* kind_of(Memory memory) {
  switch (memory) {
    case Memory::stack:
      return "memory on the stack";
    case Memory::container:
      return "a container's memory";
    default:
      return "heap memory";
  }
}

std::string direction_of(const CallEvent& copy) {
  if (copy.to_host) return "device to host";
  if (copy.to_device) return "host to device";
  if (copy.on_device) return "device to device";
  const bool reads = copy.src.present && is_pageable(copy.src.memory);
  const bool writes = copy.dst.present && is_pageable(copy.dst.memory);
  if (reads == writes) return "";
  return reads ? "host to device" : "device to host";
}

std::optional<Judgement> pageable_copy(const CallEvent& e) {
  if (e.api.is != Is::copy || !e.api.async || e.api.batch || e.api.direction == Direction::on_host)
    return std::nullopt;
  for (const auto& [operand, word, applies] :
       {std::tuple{&e.src, "from", !e.to_host}, std::tuple{&e.dst, "to", !e.to_device}})
    if (applies && operand->present && is_pageable(operand->memory))
      return Judgement{reports::Severity::error,
                       e.callee + " copies " + word + " pageable memory: '" + operand->name + "' is " +
                           kind_of(operand->memory),
                       {{"direction", operand == &e.src ? "host to device" : "device to host"},
                        {"host memory", kind_of(operand->memory)}}};
  return std::nullopt;
}

}  // namespace capgate::lint
