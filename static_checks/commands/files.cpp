#include "static_checks/commands/files.h"

#include <sys/stat.h>

#include <filesystem>

namespace capgate::lint {
namespace fs = std::filesystem;

bool file_exists(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && !S_ISDIR(info.st_mode);
}

bool directory_exists(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string absolute_path(const std::string& path, const std::string& directory) {
  fs::path whole = fs::path(directory) / path;
  std::string text = whole.lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

std::string canonical_path(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  return error ? absolute_path(path, current_directory()) : real.string();
}

std::string current_directory() {
  std::error_code error;
  const fs::path path = fs::current_path(error);
  return error ? "/" : path.string();
}

std::string parent_directory(const std::string& path) {
  return fs::path(path).parent_path().string();
}
std::string file_name(const std::string& path) {
  return fs::path(path).filename().string();
}
std::string extension(const std::string& path) {
  return fs::path(path).extension().string();
}

bool is_below(std::string_view path, std::string_view directory) {
  if (directory == "/") return path.size() > 1;
  return path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/';
}

std::string find_upwards(const std::string& directory, const std::string& name) {
  std::error_code error;
  for (std::string dir = directory;; dir = parent_directory(dir)) {
    if (fs::exists(fs::path(dir) / name, error)) return dir;
    if (dir.empty() || dir == "/") return "";
  }
}

}  // namespace capgate::lint
