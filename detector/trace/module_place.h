// An address of a raw trace in words that mean something to a person who has the module.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "detector/trace/process_trace.h"

namespace capgate::trace {

// "libfoo.so+0x12"; of two modules that were mapped there one after the other, the later one. The number
// alone where no module was.
std::string module_place(const std::vector<Module>& modules, uint64_t ip);

}  // namespace capgate::trace
