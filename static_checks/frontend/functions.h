// Where the functions of a unit are in its text.
#pragma once

#include <string>
#include <vector>

#include "static_checks/frontend/function_extent.h"
#include "static_checks/frontend/tree.h"

namespace capgate::lint {

// __global__, or __device__ without __host__, as it is written; device memory is so too.
bool is_device_only(const clang::Decl* declaration);

// Functions, and variables of device memory, which count as device code. In the order of the text; templates
// once.
std::vector<FunctionExtent> user_functions(const Tree& tree);

// The innermost that holds the byte, or nullptr.
const FunctionExtent* enclosing(const std::vector<FunctionExtent>& functions, const std::string& file,
                                unsigned offset);

// True when the place lies in a lambda marked __device__ and not __host__, inside a host function.
bool in_device_lambda(const Tree& tree, const Spot& place);

}  // namespace capgate::lint
