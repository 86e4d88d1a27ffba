#include "static_checks/frontend/shim.h"

#include <glob.h>

#include <algorithm>
#include <cstdlib>

#include "static_checks/commands/files.h"
#include "static_checks/frontend/shim_text.h"

namespace capgate::lint {
namespace {

// gcc keeps omp.h among its own headers, where clang does not look. Empty if no gcc is installed.
std::string gcc_openmp_header() {
  std::string best;
  int best_version = -1;
  glob_t found{};
  if (glob("/usr/lib/gcc/*/*/include/omp.h", 0, nullptr, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; ++i) {
      const std::string path = found.gl_pathv[i];
      const int version = std::atoi(file_name(parent_directory(parent_directory(path))).c_str());
      if (version > best_version) best = path, best_version = version;
    }
  globfree(&found);
  return best;
}

}  // namespace

void Shim::add(const std::string& path, std::string text) {
  files_.emplace_back(path, std::move(text));
}

Shim::Shim(const UnitCommand& command) {
  const std::string dir = kShimDir;
  if (command.cuda) {
    add(dir + "/capgate_prelude.h", kPreludeText);
    arguments_ = {"-include", dir + "/capgate_prelude.h"};
    if (command.needs_texture_fetch) {
      // clang 19's CUDA wrapper includes it; CUDA 13 removed it with the texture references it was for.
      add(dir + "/cuda/texture_fetch_functions.h", "\n");
      arguments_.insert(arguments_.end(), {"-isystem", dir + "/cuda"});
    }
  }
  const bool openmp =
      std::find(command.arguments.begin(), command.arguments.end(), "-fopenmp") != command.arguments.end();
  if (const std::string header = openmp || command.cuda ? gcc_openmp_header() : ""; !header.empty()) {
    add(dir + "/last/omp.h", "#include \"" + header + "\"\n");
    arguments_.insert(arguments_.end(),
                      {"-idirafter", dir + "/last"});  // clang's own, where installed, goes first
  }
}

}  // namespace capgate::lint
