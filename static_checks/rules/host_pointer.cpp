#include "static_checks/rules/memory.h"
#include "static_checks/rules/rule.h"

namespace capgate::lint {

std::optional<Judgement> host_pointer(const CallEvent& e) {
  if (e.api.is != Is::copy_node) return std::nullopt;
  for (const Operand* operand : {&e.src, &e.dst}) {
    if (!operand->present || !is_pageable(operand->memory)) continue;
    Judgement judgement{
        reports::Severity::error,
        "the copy node keeps the address of '" + operand->name + "', " + kind_of(operand->memory),
        {{"direction", operand == &e.src ? "host to device" : "device to host"},
         {"host memory", kind_of(operand->memory)}}};
    if (e.callee.find("SetParams") != std::string::npos) judgement.details["graph"] = "changed node by node";
    return judgement;
  }
  return std::nullopt;
}

Judgement host_pointer_of_kernel(const HandedEvent& e) {
  return {reports::Severity::warning,
          e.kernel + " keeps the address of '" + e.object + "', " + kind_of(e.memory) +
              ": few devices can read it, and each replay reads what is there by then",
          {{"host memory", kind_of(e.memory)}, {"receiver", "kernel"}}};
}

}  // namespace capgate::lint
