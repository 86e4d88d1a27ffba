#include "static_checks/rules/memory.h"
#include "static_checks/rules/rule.h"

namespace capgate::lint {

std::optional<Judgement> host_pointer(const CallEvent& e) {
  if (e.api.is != Is::copy_node) return std::nullopt;
  for (const Operand* operand : {&e.src, &e.dst})
    if (operand->present && is_pageable(operand->memory))
      return Judgement{
          reports::Severity::error,
          "the copy node keeps the address of '" + operand->name + "', " + kind_of(operand->memory),
          {{"direction", operand == &e.src ? "host to device" : "device to host"},
           {"host memory", kind_of(operand->memory)}}};
  return std::nullopt;
}

}  // namespace capgate::lint
