#include "static_checks/worker/inputs.h"

#include <algorithm>
#include <map>
#include <set>

#include "static_checks/commands/files.h"
#include "static_checks/worker/stamp.h"

namespace capgate::lint {
namespace {

// The name by which a header was asked for, as far as its place tells: its path below the nearest folder that
// is searched. System folders are known to clang alone; these are where their names begin.
std::string asked_name(const std::string& path, const UnitCommand& command) {
  size_t longest = 0;
  const auto consider = [&](std::string_view dir) {
    if (is_below(path, dir)) longest = std::max(longest, dir.size());
  };
  for (const std::string& dir : command.search_dirs) consider(dir);
  for (size_t i = 0; i + 1 < command.arguments.size(); ++i)
    if (command.arguments[i] == "-isystem") consider(command.arguments[i + 1]);
  for (const std::string& dir : command.foreign_dirs) {
    consider(dir);
    consider(dir + "/include");
    consider(dir + "/targets/x86_64-linux/include");
  }
  for (const char* dir : {"/usr/include", "/usr/include/x86_64-linux-gnu", "/usr/local/include"})
    consider(dir);
  // "/usr/include/c++/12/bits/x.h" is asked for as <bits/x.h>.
  if (const size_t at = path.find("/c++/"); at != std::string::npos)
    if (const size_t end = path.find('/', at + 5); end != std::string::npos) longest = std::max(longest, end);
  return longest ? path.substr(longest + 1) : file_name(path);
}

std::string folder_part(const std::string& name) {
  const size_t slash = name.rfind('/');
  return slash == std::string::npos ? "" : name.substr(0, slash);
}

// Of the bytes that the parser read.
std::string digest_of(const Unit& unit, const IncludedFile& file) {
  if (const auto before = unit.changed.find(file.path); before != unit.changed.end())
    return content_digest(before->second);
  return content_digest(file.text);
}

}  // namespace

Inputs record_inputs(const Unit& unit, const UnitCommand& command, int64_t since_ns) {
  Inputs inputs;
  const std::vector<IncludedFile> included = included_files(unit);
  std::set<std::string> read;
  std::vector<std::string> searched = command.search_dirs;
  std::map<std::string, std::set<std::string>> names_in;  // folder part of the name -> file names
  for (const IncludedFile& file : included) {
    if (!file.folder.empty() && std::find(searched.begin(), searched.end(), file.folder) == searched.end() &&
        is_below(file.folder + "/x", unit.root))
      searched.push_back(file.folder);  // where a quoted name is looked for first
    if (!read.insert(file.path).second) continue;
    const FileStamp stamp = settled_stamp(file.path, since_ns);
    inputs.files.push_back({file.path, file.user, stamp, digest_of(unit, file)});
    const std::string name = asked_name(file.path, command);
    names_in[folder_part(name)].insert(file_name(name));
  }
  for (const auto& [part, names] : names_in) {
    const auto index = static_cast<uint32_t>(inputs.names.size());
    inputs.names.emplace_back(names.begin(), names.end());
    for (const std::string& dir : searched) {
      const std::string folder = part.empty() ? dir : dir + "/" + part;
      const FileStamp stamp = settled_stamp(folder, since_ns);
      inputs.earlier.push_back({folder, stamp, index});
      if (stamp.size == FileStamp::kAbsent) continue;
      for (const std::string& name : names)
        if (const std::string path = folder + "/" + name;
            file_exists(path) && !read.contains(canonical_path(path)))
          inputs.shadowed.push_back(path);
    }
  }
  return inputs;
}

}  // namespace capgate::lint
