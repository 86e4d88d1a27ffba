#include "detector/seal/python_program.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <vector>

#include "detector/seal/git_commit.h"
#include "detector/trace/python_script.h"

namespace capgate::seal {
namespace {

namespace fs = std::filesystem;

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

}  // namespace capgate::seal
