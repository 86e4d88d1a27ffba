// Where a libcupti may lie that the audited program has not loaded by itself.
#pragma once

#include <string>
#include <vector>

namespace capgate::cli {

// Existing libcupti files, best first: of the Python environment that `program` (a resolved path) belongs to,
// of $CUDA_HOME, $CUDA_PATH and /usr/local/cuda*.
std::vector<std::string> cupti_hints(const std::string& program);

}  // namespace capgate::cli
