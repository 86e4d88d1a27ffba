// What CUDA says, as a sentence.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "base/result.h"

namespace dsv4::cuda {

inline capgate::Result<void> done(cudaError_t status, const std::string& what) {
  if (status == cudaSuccess) return {};
  return capgate::Error{what + ": " + cudaGetErrorString(status)};
}

}  // namespace dsv4::cuda
