#include "detector/seal/source_tree.h"

#include <filesystem>
#include <fstream>
#include <set>

#include "reports/settings/frames.h"

namespace capgate::seal {
namespace {

namespace fs = std::filesystem;

constexpr int kLinesAround = 3;
// A file over this size is data, not source.
constexpr uintmax_t kMostFileBytes = 16u << 20;
constexpr size_t kMostLineBytes = 400;

}  // namespace

const std::string& SourceTree::repository_of(const std::string& folder) {
  if (const auto known = repositories_.find(folder); known != repositories_.end()) return known->second;
  std::error_code failed;
  std::string root;
  if (fs::exists(fs::path(folder) / ".git", failed)) {
    root = folder;
  } else if (const auto parent = fs::path(folder).parent_path().string();
             !parent.empty() && parent != folder) {
    root = repository_of(parent);
  }
  return repositories_[folder] = root;
}

const std::string& SourceTree::report_path(const std::string& file) {
  const auto [at, fresh] = paths_.try_emplace(file);
  if (!fresh) return at->second;
  if (file.empty() || file[0] != '/') return at->second = reports::report_path(file, "");
  const std::string normal = fs::path(file).lexically_normal().string();
  std::string root = repository_of(fs::path(normal).parent_path().string());
  if (root.empty()) root = working_dir_;
  return at->second = reports::report_path(normal, root);
}

void SourceTree::want(const std::string& file, int line) {
  if (!file.empty() && line > 0) wanted_[file].push_back(line);
}

std::vector<SourceFile> SourceTree::gather() const {
  std::map<std::string, SourceFile> found;
  for (const auto& [file, lines] : wanted_) {
    std::error_code failed;
    const fs::path path = file[0] == '/' ? fs::path(file) : fs::path(working_dir_) / file;
    if (!fs::is_regular_file(path, failed) || fs::file_size(path, failed) > kMostFileBytes || failed)
      continue;
    std::set<int> keep;
    for (const int line : lines)
      for (int near = line - kLinesAround; near <= line + kLinesAround; ++near) keep.insert(near);
    const auto name = paths_.find(file);
    SourceFile source;
    source.path = name == paths_.end() ? file : name->second;
    std::ifstream in(path);
    std::string text;
    for (int number = 1; std::getline(in, text); ++number) {
      if (!text.empty() && text.back() == '\r') text.pop_back();
      if (text.size() > kMostLineBytes) text.resize(kMostLineBytes);
      if (text.find("capgate-allow(") != std::string::npos) source.allows.push_back({number, text});
      if (keep.contains(number)) source.lines[number] = text;
    }
    found.emplace(source.path, std::move(source));
  }
  std::vector<SourceFile> sources;
  sources.reserve(found.size());
  for (auto& [path, source] : found) sources.push_back(std::move(source));
  return sources;
}

}  // namespace capgate::seal
