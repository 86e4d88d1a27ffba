#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "cli/audit/preload_library.h"
#include "cli/audit/trace_folder.h"
#include "cli/doctor/machine_checks.h"

namespace capgate::cli {
namespace fs = std::filesystem;

Check check_detector() {
  std::string found;
  for (const char* file : {kPreloadFile, kWatchHostFile}) {
    const auto library = find_preload_library(file);
    if (!library)
      return {"detector", CheckState::missing, library.error(),
              "tar xzf capgate-VERSION-linux-x86_64.tar.gz"};
    if (found.empty()) found = *library;
  }
  struct statvfs mount{};
  if (statvfs(found.c_str(), &mount) == 0 && (mount.f_flag & ST_NOEXEC) != 0) {
    return {
        "detector", CheckState::missing,
        fmt::format("{} is on a file system that is mounted noexec, so that no program can load it", found),
        "tar xzf capgate-VERSION-linux-x86_64.tar.gz -C /opt"};
  }
  return {"detector", CheckState::there, found, ""};
}

Check check_trace_folder() {
  constexpr uint64_t kRoom = 256u << 20;  // far more than most runs write
  const auto folder = TraceFolder::temporary();
  if (!folder)
    return {"trace folder", CheckState::missing, folder.error(),
            "export TMPDIR=FOLDER, where FOLDER can be written"};
  struct statvfs mount{};
  const std::string parent = fs::path(folder->path()).parent_path().string();
  if (statvfs(folder->path().c_str(), &mount) == 0) {
    const uint64_t room = static_cast<uint64_t>(mount.f_bavail) * mount.f_frsize;
    if (room < kRoom)
      return {"trace folder", CheckState::optional,
              fmt::format("{} has room for {} MiB; a trace may need more", parent, room >> 20),
              "export TMPDIR=FOLDER, where FOLDER is on a larger file system"};
  }
  return {"trace folder", CheckState::there, fmt::format("traces go to {} until they are judged", parent),
          ""};
}

Check check_lint() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& place : {folder, folder.parent_path() / "libexec/capgate"})
    if (access((place / "capgate-lint-worker").c_str(), X_OK) == 0)
      return {"lint", CheckState::there, "`capgate lint` has its parser", ""};
  return {"lint", CheckState::optional, "`capgate lint` is not part of this installation",
          "tar xzf capgate-lint-VERSION-DISTRIBUTION-x86_64.tar.gz"};
}

}  // namespace capgate::cli
