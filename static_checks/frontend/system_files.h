// Which files are the system's, the compiler's or the toolkit's: nobody's project.
#pragma once

#include <string>

namespace capgate::lint {

inline bool is_of_the_system(const std::string& file) {
  for (const char* place :
       {"/include/c++/", "/lib/clang/", "/lib/gcc/", "/usr/local/cuda", "/targets/x86_64-linux/include/",
        "/targets/sbsa-linux/include/", "/nvidia/cu", "capgate_prelude"})
    if (file.find(place) != std::string::npos) return true;
  return file.empty() || file.starts_with("/usr/include/") || file.starts_with("/usr/lib/");
}

}  // namespace capgate::lint
