#include "detector/seal/python_program.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "detector/seal/git_index.h"
#include "detector/trace/python_script.h"

namespace capgate::seal {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  return line;
}

bool is_hash(const std::string& text) {
  return text.size() >= 40 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string packed_ref(const fs::path& git, const std::string& name) {
  std::ifstream in(git / "packed-refs");
  for (std::string line; std::getline(in, line);) {
    const size_t space = line.find(' ');
    if (space != std::string::npos && line.substr(space + 1) == name) return line.substr(0, space);
  }
  return {};
}

// Of a folder that holds HEAD. A worktree's has its branches elsewhere.
std::string commit_in(const fs::path& git) {
  const std::string head = first_line(git / "HEAD");
  constexpr std::string_view kRef = "ref: ";
  if (!head.starts_with(kRef)) return is_hash(head) ? head : std::string();
  const std::string name = head.substr(kRef.size());
  const std::string common = first_line(git / "commondir");
  for (const fs::path& folder : {git, common.empty() ? git : git / common}) {
    if (const auto loose = first_line(folder / name); is_hash(loose)) return loose;
    if (const auto packed = packed_ref(folder, name); is_hash(packed)) return packed;
  }
  return {};
}

// The folder with HEAD and index of a work tree whose top is `at`.
std::optional<fs::path> git_folder(const fs::path& at) {
  std::error_code ignored;
  const fs::path git = at / ".git";
  if (fs::is_directory(git, ignored)) return git;
  if (!fs::is_regular_file(git, ignored)) return std::nullopt;
  // Of a worktree or submodule.
  constexpr std::string_view kFolder = "gitdir: ";
  const std::string line = first_line(git);
  return line.starts_with(kFolder) ? at / line.substr(kFolder.size()) : git;
}

// What `python3 SCRIPT` may have started, or `python3 -m SCRIPT` in its working folder.
std::vector<fs::path> files_of(const fs::path& cwd, const std::string& script) {
  if (script.empty()) return {};
  std::string module = script;
  std::replace(module.begin(), module.end(), '.', '/');
  return {cwd / script, cwd / script / "__main__.py", cwd / (module + ".py"), cwd / module / "__main__.py"};
}

// "/venv/lib/python3.12/site-packages" of a path inside it; empty for others.
std::string packages_of(std::string_view path) {
  for (const std::string_view name : {"/site-packages/", "/dist-packages/"})
    if (const size_t at = path.find(name); at != std::string_view::npos)
      return std::string(path.substr(0, at + name.size() - 1));
  return {};
}

// The version that a package was installed as.
std::string version_of(const std::string& packages, const std::string& name) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(packages, failed)) {
    const std::string folder = entry.path().filename().string();
    if (!folder.starts_with(name + "-") || !folder.ends_with(".dist-info")) continue;
    std::ifstream in(entry.path() / "METADATA");
    constexpr std::string_view kVersion = "Version: ";
    for (std::string line; std::getline(in, line) && !line.empty();)
      if (line.starts_with(kVersion)) return line.substr(kVersion.size());
  }
  return {};
}

}  // namespace

std::map<std::string, std::string> python_program_facts(const trace::ProcessTrace& process) {
  std::map<std::string, std::string> facts;
  if (process.fact("python").empty()) return facts;
  const auto keep = [&](const char* key, const std::string& value) {
    if (!value.empty()) facts.emplace(key, value);
  };
  const fs::path cwd = std::string(process.fact("cwd"));
  for (const fs::path& file : files_of(cwd, trace::python_script(process)))
    keep("commit", git_commit(file.string()));

  for (const auto& module : process.modules)
    if (module.path.find("/torch/lib/libtorch") != std::string::npos)
      if (const auto packages = packages_of(module.path); !packages.empty())
        keep("torch", version_of(packages, "torch"));
  std::set<std::string> used;
  for (const auto& [id, stack] : process.python_stacks)
    for (size_t at = 0; (at = stack.find("-packages/transformers/", at)) != std::string::npos; ++at) {
      const size_t begin = stack.rfind('"', at);
      if (begin != std::string::npos) used.insert(packages_of(std::string_view(stack).substr(begin + 1)));
    }
  for (const auto& packages : used) keep("transformers", version_of(packages, "transformers"));
  return facts;
}

std::string git_commit(const std::string& file) {
  std::error_code ignored;  // also set for what is merely not there
  const fs::path named = fs::absolute(file, ignored);
  // git asks for the real folder; of the file itself a link is tracked as one.
  const fs::path folder = fs::canonical(named.parent_path(), ignored);
  for (fs::path at = folder; !at.empty(); at = at.parent_path()) {
    if (const auto git = git_folder(at)) {
      const std::string commit = commit_in(*git);
      const std::string path = (folder / named.filename()).lexically_relative(at).generic_string();
      return is_tracked(*git, path, commit.size() / 2) ? commit : std::string();
    }
    if (at == at.root_path()) break;
  }
  return {};
}

}  // namespace capgate::seal
