// Where a function of the user is in the text.
#pragma once

#include <string>

#include "static_checks/model/archive.h"

namespace capgate::lint {

struct FunctionExtent {
  std::string file, name;
  unsigned first_line = 0, last_line = 0;
  unsigned first_offset = 0, last_offset = 0;  // bytes
  bool device_only = false;                    // __global__ or __device__ without __host__
};
template <class A>
void fields(A& archive, FunctionExtent& v) {
  archive(v.file, v.name, v.first_line, v.last_line, v.first_offset, v.last_offset, v.device_only);
}

}  // namespace capgate::lint
