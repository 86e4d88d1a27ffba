// Paths of sources, as reports write them.
#pragma once

#include <string>

namespace capgate::reports {

// Whether two paths may be one file: equal, or, where one tree was not found and its
// paths are absolute or begin further in, one the end of the other.
bool same_source(const std::string& a, const std::string& b);

// Lint reads C, C++ and CUDA.
bool is_python_source(const std::string& path);

}  // namespace capgate::reports
