#include "cli/audit/process_tree.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include "base/file_name.h"

namespace capgate::cli {
namespace fs = std::filesystem;
namespace {

std::optional<pid_t> number(std::string_view text) {
  pid_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value <= 0) return std::nullopt;
  return value;
}

std::string contents(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace

// The kernel lists children by the thread that forked them. False when it keeps no such lists.
bool ProcessTree::children_listed(pid_t pid, std::vector<pid_t>& found) const {
  const fs::path tasks = fs::path(proc_) / std::to_string(pid) / "task";
  std::error_code error;
  for (const auto& task : fs::directory_iterator(tasks, error)) {
    std::ifstream list(task.path() / "children");
    if (!list) return !fs::exists(task.path(), error);
    for (std::string word; list >> word;) {
      if (const auto child = number(word)) found.push_back(*child);
    }
  }
  return true;
}

std::vector<pid_t> ProcessTree::descendants(pid_t root) const {
  std::vector<pid_t> found;
  if (!children_listed(root, found)) return descendants_by_parent(root);
  for (size_t i = 0; i < found.size(); ++i) children_listed(found[i], found);
  return found;
}

std::vector<pid_t> ProcessTree::descendants_by_parent(pid_t root) const {
  std::multimap<pid_t, pid_t> children;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(proc_, error)) {
    const auto pid = number(entry.path().filename().string());
    if (!pid) continue;
    // The name in parentheses may hold anything; state and parent stand behind the last one.
    const std::string stat = contents(entry.path() / "stat");
    const size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos) continue;
    std::istringstream rest(stat.substr(name_end + 1));
    std::string state;
    pid_t parent = 0;
    if (rest >> state >> parent) children.emplace(parent, *pid);
  }
  std::vector<pid_t> found{root};
  for (size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    for (auto child = begin; child != end; ++child) found.push_back(child->second);
  }
  found.erase(found.begin());
  return found;
}

// NVML opens the control and GPU devices too; the memory driver's device is CUDA's alone (dxg: under WSL,
// nvmap: on Tegra).
bool ProcessTree::has_cuda_device_open(pid_t pid) const {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(proc_) / std::to_string(pid) / "fd", error)) {
    std::error_code gone;
    const std::string target = fs::read_symlink(entry.path(), gone).string();
    if (target == "/dev/nvidia-uvm" || target == "/dev/dxg" || target == "/dev/nvmap") return true;
  }
  return false;
}

std::string ProcessTree::argv0(pid_t pid) const {
  const std::string words = contents(fs::path(proc_) / std::to_string(pid) / "cmdline");
  return words.substr(0, words.find('\0'));
}

pid_t ProcessTree::own_number(pid_t pid) const {
  std::ifstream status(fs::path(proc_) / std::to_string(pid) / "status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("NSpid:")) continue;
    const size_t last = line.find_last_of(" \t");
    return number(std::string_view(line).substr(last + 1)).value_or(pid);
  }
  return pid;
}

std::optional<ProcessTree::Mappings> ProcessTree::mappings(pid_t pid) const {
  std::ifstream maps(fs::path(proc_) / std::to_string(pid) / "maps");
  if (!maps) return std::nullopt;
  Mappings found;
  for (std::string line; std::getline(maps, line);) {
    const size_t slash = line.find('/');
    if (slash == std::string::npos) continue;
    const std::string_view name = file_name(std::string_view(line).substr(slash));
    if (found.libcuda == 0 && name.starts_with("libcuda.so")) found.libcuda = std::stoull(line, nullptr, 16);
    found.detector = found.detector || name.starts_with("libcapgate_preload.so");
  }
  return found;
}

}  // namespace capgate::cli
