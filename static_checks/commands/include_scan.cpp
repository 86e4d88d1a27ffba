#include "static_checks/commands/include_scan.h"

#include <string_view>

#include "base/files/read_text.h"
#include "static_checks/commands/files.h"

namespace capgate::lint {

namespace {

std::string_view skip_blanks(std::string_view text) {
  const size_t at = text.find_first_not_of(" \t");
  return at == std::string_view::npos ? std::string_view() : text.substr(at);
}

}  // namespace

const std::vector<IncludeScanner::Include>& IncludeScanner::includes_in(const std::string& path) {
  const auto [it, fresh] = includes_.try_emplace(path);
  if (!fresh) return it->second;
  const Result<std::string> text = read_file(path);
  if (!text) return it->second;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = skip_blanks(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.starts_with('#')) continue;
    line = skip_blanks(line.substr(1));
    if (!line.starts_with("include")) continue;
    line = skip_blanks(line.substr(line.starts_with("include_next") ? 12 : 7));
    if (line.empty() || (line[0] != '"' && line[0] != '<')) continue;
    const size_t close = line.find(line[0] == '"' ? '"' : '>', 1);
    if (close != std::string_view::npos)
      it->second.push_back({std::string(line.substr(1, close - 1)), line[0] == '"'});
  }
  return it->second;
}

bool IncludeScanner::exists(const std::string& path) {
  const auto [it, fresh] = exists_.try_emplace(path);
  if (fresh) it->second = file_exists(path);
  return it->second;
}

std::string IncludeScanner::resolve(const Include& include, const std::string& folder,
                                    const std::vector<std::string>& dirs) {
  if (include.name.starts_with('/')) return exists(include.name) ? include.name : "";
  if (include.quoted)
    if (const std::string path = absolute_path(include.name, folder); exists(path)) return path;
  for (const std::string& dir : dirs)
    if (const std::string path = absolute_path(include.name, dir); exists(path)) return path;
  return "";
}

std::set<std::string> IncludeScanner::headers_of(const UnitCommand& unit) {
  std::set<std::string> found;
  std::vector<std::string> open = {unit.file};
  // Headers that the command itself names.
  for (size_t i = 0; i + 1 < unit.arguments.size(); ++i)
    if (unit.arguments[i] == "-include" || unit.arguments[i] == "-imacros")
      if (const std::string path = resolve({unit.arguments[i + 1], true}, unit.directory, unit.search_dirs);
          !path.empty() && found.insert(canonical_path(path)).second)
        open.push_back(canonical_path(path));
  while (!open.empty()) {
    const std::string path = open.back();
    open.pop_back();
    for (const Include& include : includes_in(path)) {
      std::string header = resolve(include, parent_directory(path), unit.search_dirs);
      if (header.empty()) continue;
      header = canonical_path(header);
      bool foreign = false;
      for (const std::string& dir : unit.foreign_dirs) foreign = foreign || is_below(header, dir);
      if (!foreign && found.insert(header).second) open.push_back(header);
    }
  }
  return found;
}

}  // namespace capgate::lint
