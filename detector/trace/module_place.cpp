#include "detector/trace/module_place.h"

#include <cinttypes>
#include <cstdio>

#include "base/file_name.h"

namespace capgate::trace {

std::string module_place(const std::vector<Module>& modules, uint64_t ip) {
  const auto hex = [](uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, "%#" PRIx64, value);
    return std::string(text);
  };
  for (auto module = modules.rbegin(); module != modules.rend(); ++module)
    if (module->start <= ip && ip < module->end)
      return std::string(file_name(module->path)) + "+" + hex(ip - module->bias);
  return hex(ip);
}

}  // namespace capgate::trace
