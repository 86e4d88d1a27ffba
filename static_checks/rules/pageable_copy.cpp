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

std::optional<Judgement> pageable_copy(const CallEvent& e) {
  if (e.api.is != Is::copy || !e.api.async || e.api.direction == Direction::on_host) return std::nullopt;
  for (const auto& [operand, word, applies] :
       {std::tuple{&e.src, "from", !e.to_host}, std::tuple{&e.dst, "to", !e.to_device}})
    if (applies && operand->present && is_pageable(operand->memory))
      return Judgement{reports::Severity::error, e.callee + " copies " + word + " pageable memory: '" +
                                                     operand->name + "' is " + kind_of(operand->memory)};
  return std::nullopt;
}

}  // namespace capgate::lint
