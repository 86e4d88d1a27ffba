#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli/audit/cupti_hints.h"
#include "cli/audit/preload_library.h"
#include "cli/audit/program_file.h"
#include "cli/doctor/machine_checks.h"

namespace capgate::cli {
namespace fs = std::filesystem;
namespace {

constexpr unsigned kLoadSeconds = 20;

// What `function` of the library at `path` puts into its one argument, asked in a process of its own; 0: it
// does not load.
uint32_t version_of(const std::string& path, const char* function) {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  const pid_t child = fork();
  if (child == 0) {
    alarm(kLoadSeconds);
    uint32_t version = 0;
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      if (const auto ask = reinterpret_cast<int (*)(uint32_t*)>(dlsym(library, function))) ask(&version);
    _exit(write(ends[1], &version, sizeof version) == static_cast<ssize_t>(sizeof version) ? 0 : 1);
  }
  close(ends[1]);
  uint32_t version = 0;
  if (child < 0 || read(ends[0], &version, sizeof version) != static_cast<ssize_t>(sizeof version))
    version = 0;
  close(ends[0]);
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return version;
}

// The CUDA of libcupti.so.13: its file has that number, while its own version counts in another way
// before 13.
int cuda_major(const std::string& path) {
  const size_t at = path.rfind(".so.");
  return at == std::string::npos ? 0 : std::atoi(path.c_str() + at + 4);
}

// The program that `python3` starts decides which wheels an audit looks into.
std::string python_here() {
  const auto python = find_program("python3");
  return python ? python->path : "/usr/bin/python3";
}

}  // namespace

Check check_cupti() {
  std::vector<std::string> candidates = cupti_hints(python_here());
  for (const char* name : {"libcupti.so.13", "libcupti.so.12"}) candidates.emplace_back(name);
  const int driver_cuda = static_cast<int>(version_of("libcuda.so.1", "cuDriverGetVersion")) / 1000;
  std::string found, too_new, broken;
  const auto append = [](std::string& list, const std::string& word) {
    list += (list.empty() ? "" : ", ") + word;
  };
  for (const std::string& path : candidates) {
    const uint32_t version = version_of(path, "cuptiGetVersion");
    if (version == 0) {
      if (path.find('/') != std::string::npos) append(broken, path);
    } else if (driver_cuda != 0 && cuda_major(path) > driver_cuda) {
      append(too_new, path);
    } else {
      append(found, fmt::format("{} (version {})", path, version));
    }
  }
  if (!found.empty()) return {"cupti", CheckState::there, "an audit finds " + found, ""};
  const char* command = "python3 -m pip install nvidia-cuda-cupti";
  if (!too_new.empty())
    return {"cupti", CheckState::missing,
            fmt::format("{} is newer than the driver, which has CUDA {}", too_new, driver_cuda),
            fmt::format("python3 -m pip install 'nvidia-cuda-cupti-cu{}'", driver_cuda)};
  if (!broken.empty()) return {"cupti", CheckState::missing, broken + " cannot be loaded", command};
  return {"cupti", CheckState::missing,
          "there is no libcupti: neither in the Python that `python3` starts, nor in a CUDA toolkit",
          command};
}

Check check_other_tools() {
  std::vector<std::string> seen;
  for (const char* variable : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    const std::string file = fs::path(value).filename().string();
    if (file != kPreloadFile) seen.push_back(fmt::format("{} names {}", variable, value));
  }
  if (const char* kineto = std::getenv("KINETO_USE_DAEMON"); kineto != nullptr && std::string(kineto) == "1")
    seen.emplace_back("KINETO_USE_DAEMON is 1, so that a daemon may start PyTorch's profiler");
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/proc", none)) {
    std::string name;
    std::ifstream(entry.path() / "comm") >> name;
    for (const char* tool : {"nv-hostengine", "dcgm-exporter", "nsys", "ncu"})
      if (name == tool)
        seen.push_back(fmt::format("{} runs (process {})", tool, entry.path().filename().string()));
  }
  if (seen.empty())
    return {"other tools", CheckState::there, "no other tool that could hold CUPTI is in sight", ""};
  std::string all;
  for (const std::string& one : seen) all += (all.empty() ? "" : "; ") + one;
  return {"other tools", CheckState::optional,
          all + ": one tool at a time can hold CUPTI, and the self-test shows whether an audit gets it", ""};
}

}  // namespace capgate::cli
