// Where the functions of a unit are in its text.
#pragma once

#include <clang-c/Index.h>

#include <string>
#include <vector>

#include "static_checks/frontend/function_extent.h"
#include "static_checks/frontend/unit.h"

namespace capgate::lint {

// Functions, and variables of device memory, which count as device code. In the order of the text; templates
// once.
std::vector<FunctionExtent> user_functions(const Unit& unit);

// The innermost that holds the byte, or nullptr.
const FunctionExtent* enclosing(const std::vector<FunctionExtent>& functions, const std::string& file,
                                unsigned offset);

// True when the byte lies in a lambda marked __device__ and not __host__, inside a host function.
bool in_device_lambda(const Unit& unit, CXFile file, unsigned offset);

}  // namespace capgate::lint
