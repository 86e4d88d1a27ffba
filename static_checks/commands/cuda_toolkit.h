// The CUDA toolkit that a command compiles against.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace capgate::lint {

struct CudaToolkit {
  std::string root;                // what clang calls --cuda-path
  std::string include;             // the folder of cuda_runtime.h
  std::string cccl;                // CUDA 13: the folder of cub/ and thrust/; empty before
  int version = 0;                 // CUDA_VERSION of cuda.h: 13000
  bool has_texture_fetch = false;  // CUDA 12 ships a header that clang's wrapper includes and 13 removed
};

// Looks at, in this order: `given` (--cuda-path; then nothing else), the nvcc of the command, CUDA_PATH,
// CUDA_HOME, nvcc in PATH, /usr/local/cuda. `nvcc` may be empty. The error says what was tried.
Result<CudaToolkit> find_cuda_toolkit(const std::string& given, const std::string& nvcc);

}  // namespace capgate::lint
