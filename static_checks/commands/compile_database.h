// compile_commands.json, as CMake, Bear and Meson write it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace capgate::lint {

struct CompileEntry {
  std::string directory;               // absolute: relative names of the command are meant from here
  std::string file;                    // canonical absolute path
  std::vector<std::string> arguments;  // argv, the compiler first; response files not yet expanded
};

// `path` is the file or the folder it is in. One sentence for a file that is absent, no JSON, or not of this
// form.
Result<std::vector<CompileEntry>> read_compile_database(const std::string& path);

}  // namespace capgate::lint
