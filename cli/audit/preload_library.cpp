#include "cli/audit/preload_library.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

namespace capgate::cli {
namespace fs = std::filesystem;

Result<std::string> find_preload_library(const char* file) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return Error{fmt::format("cannot determine the folder of capgate itself: {}", error.message())};
  const fs::path folder = self.parent_path();
  for (const fs::path& place : {folder / "../lib", folder / "../lib64", folder}) {
    const fs::path candidate = place / file;
    if (fs::is_regular_file(candidate, error)) return fs::canonical(candidate, error).string();
  }
  return Error{fmt::format("{} is missing: it belongs in {}; install capgate again", file,
                           (folder.parent_path() / "lib").string())};
}

Result<std::string> find_region_folder() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
  for (const char* place : {"share/capgate/python/region_fn", "region_fn"})
    if (fs::is_regular_file(folder / place / "sitecustomize.py", error)) return (folder / place).string();
  return Error{fmt::format("--region-fn needs {}, which is missing; install capgate again",
                           (folder / "share/capgate/python/region_fn/sitecustomize.py").string())};
}

Result<std::string> preloadable_path(const std::string& library, const std::string& folder) {
  const auto splits = [](const std::string& path) { return path.find_first_of(" :") != std::string::npos; };
  if (!splits(library)) return library;
  if (splits(folder)) {
    return Error{
        fmt::format("LD_PRELOAD cannot hold the space or colon in {}, nor in {}: give --trace a folder whose "
                    "path has neither",
                    library, folder)};
  }
  const std::string link = folder + "/" + fs::path(library).filename().string();
  std::error_code error;
  fs::remove(link, error);
  fs::create_symlink(library, link, error);
  if (error) return Error{fmt::format("cannot make the link {}: {}", link, error.message())};
  return link;
}

}  // namespace capgate::cli
