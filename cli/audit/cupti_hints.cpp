#include "cli/audit/cupti_hints.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace capgate::cli {
namespace fs = std::filesystem;
namespace {

// Sub-folders of `folder` whose names begin with `prefix`, the highest version first.
std::vector<fs::path> children(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

class Hints {
 public:
  // Every libcupti.so.N in `folder`; the bare libcupti.so is a link to one of them.
  void look_in(const fs::path& folder) {
    for (const fs::path& file : children(folder, "libcupti.so.")) {
      std::error_code error;
      const fs::path real = fs::canonical(file, error);
      if (error || std::find(real_.begin(), real_.end(), real) != real_.end()) continue;
      if (real.string().find(':') != std::string::npos) continue;  // the list's separator
      real_.push_back(real);
      paths_.push_back(file.string());
    }
  }

  std::vector<std::string> take() { return std::move(paths_); }

 private:
  std::vector<fs::path> real_;
  std::vector<std::string> paths_;
};

void look_in_toolkit(Hints& hints, const fs::path& toolkit) {
  hints.look_in(toolkit / "extras/CUPTI/lib64");
  hints.look_in(toolkit / "lib64");
  hints.look_in(toolkit / "targets/x86_64-linux/lib");
}

void look_in_python(Hints& hints, const fs::path& prefix) {
  for (const fs::path& python : children(prefix / "lib", "python3")) {
    for (const char* packages : {"site-packages", "dist-packages"}) {
      const fs::path nvidia = python / packages / "nvidia";
      for (const fs::path& wheel : children(nvidia, "cu")) hints.look_in(wheel / "lib");
    }
  }
}

}  // namespace

std::vector<std::string> cupti_hints(const std::string& program) {
  Hints hints;
  if (const char* environment = std::getenv("VIRTUAL_ENV"); environment != nullptr && *environment != '\0') {
    look_in_python(hints, environment);
  }
  std::error_code error;
  const fs::path absolute = fs::absolute(program, error);
  if (!error) look_in_python(hints, absolute.parent_path().parent_path());
  if (const fs::path real = fs::canonical(program, error); !error) {
    look_in_python(hints, real.parent_path().parent_path());
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* toolkit = std::getenv(variable); toolkit != nullptr && *toolkit != '\0') {
      look_in_toolkit(hints, toolkit);
    }
  }
  look_in_toolkit(hints, "/usr/local/cuda");
  for (const fs::path& toolkit : children("/usr/local", "cuda-")) look_in_toolkit(hints, toolkit);
  return hints.take();
}

}  // namespace capgate::cli
