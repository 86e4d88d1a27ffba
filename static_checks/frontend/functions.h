// Where the functions of a unit are in its text.
#pragma once

#include <clang-c/Index.h>

#include <string>
#include <vector>

#include "static_checks/frontend/unit.h"
#include "static_checks/model/archive.h"

namespace capgate::lint {

// A function of the user with a body.
struct FunctionExtent {
  std::string file, name;
  unsigned first_line = 0, last_line = 0;
  unsigned first_offset = 0, last_offset = 0;
  bool device_only = false;  // __global__ or __device__ without __host__
};
template <class A>
void fields(A& archive, FunctionExtent& v) {
  archive(v.file, v.name, v.first_line, v.last_line, v.first_offset, v.last_offset, v.device_only);
}

// Functions, and variables of device memory, which count as device code. In the order of the text; templates
// once.
std::vector<FunctionExtent> user_functions(const Unit& unit);

// The innermost that holds the byte, or nullptr.
const FunctionExtent* enclosing(const std::vector<FunctionExtent>& functions, const std::string& file,
                                unsigned offset);

// True when the byte lies in a lambda marked __device__ and not __host__, inside a host function.
bool in_device_lambda(const Unit& unit, CXFile file, unsigned offset);

}  // namespace capgate::lint
