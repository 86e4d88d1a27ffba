#include "static_checks/commands/cuda_toolkit.h"

#include <cstdlib>
#include <optional>

#include "base/files/read_text.h"
#include "static_checks/commands/files.h"

namespace capgate::lint {
namespace {

// The number after "#define CUDA_VERSION" of cuda.h.
int cuda_version(const std::string& include) {
  const Result<std::string> text = read_file(include + "/cuda.h");
  if (!text) return 0;
  const std::string key = "#define CUDA_VERSION ";
  const size_t at = text->find(key);
  return at == std::string::npos ? 0 : std::atoi(text->c_str() + at + key.size());
}

std::optional<CudaToolkit> look_at(const std::string& root) {
  if (root.empty()) return std::nullopt;
  CudaToolkit found;
  found.root = canonical_path(root);
  // The second is where a Conda environment keeps them.
  for (const char* folder : {"/include", "/targets/x86_64-linux/include", "/targets/sbsa-linux/include"}) {
    if (!file_exists(found.root + folder + "/cuda_runtime.h")) continue;
    found.include = found.root + folder;
    break;
  }
  if (found.include.empty()) return std::nullopt;
  if (directory_exists(found.include + "/cccl")) found.cccl = found.include + "/cccl";
  found.version = cuda_version(found.include);
  found.has_texture_fetch = file_exists(found.include + "/texture_fetch_functions.h");
  return found;
}

std::optional<CudaToolkit> look_beside(const std::string& nvcc) {
  if (nvcc.empty() || !file_exists(nvcc)) return std::nullopt;
  // Both: a link in bin may lead into the toolkit, or a toolkit may be made of links.
  for (const std::string& path : {nvcc, canonical_path(nvcc)})
    if (auto found = look_at(parent_directory(parent_directory(path)))) return found;
  return look_at("/usr/lib/nvidia-cuda-toolkit");  // Debian's package, whose /usr/bin/nvcc is a script
}

std::string in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  const std::string dirs = path ? path : "";
  for (size_t begin = 0; begin <= dirs.size();) {
    const size_t end = std::min(dirs.find(':', begin), dirs.size());
    const std::string candidate = dirs.substr(begin, end - begin) + "/" + program;
    if (end > begin && file_exists(candidate)) return candidate;
    begin = end + 1;
  }
  return "";
}

}  // namespace

Result<CudaToolkit> find_cuda_toolkit(const std::string& given, const std::string& nvcc) {
  if (!given.empty()) {
    if (auto found = look_at(given)) return *found;
    return Error{"no CUDA toolkit in " + given + ": there is no include/cuda_runtime.h"};
  }
  const std::string named =
      nvcc.find('/') == std::string::npos ? in_path(nvcc.empty() ? "nvcc" : nvcc) : nvcc;
  if (!nvcc.empty())
    if (auto found = look_beside(named)) return *found;
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
    if (const char* root = std::getenv(variable))
      if (auto found = look_at(root)) return *found;
  if (auto found = look_beside(in_path("nvcc"))) return *found;
  if (auto found = look_at("/usr/local/cuda")) return *found;
  return Error{
      "no CUDA toolkit found: not beside the command's nvcc, in CUDA_PATH or CUDA_HOME, beside an nvcc in "
      "PATH, or in /usr/local/cuda"};
}

}  // namespace capgate::lint
