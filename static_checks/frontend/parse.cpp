#include "static_checks/frontend/parse.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "base/files/read_text.h"
#include "static_checks/commands/files.h"
#include "static_checks/frontend/compile.h"
#include "static_checks/frontend/functions.h"
#include "static_checks/frontend/judge.h"
#include "static_checks/frontend/launch_syntax.h"
#include "static_checks/frontend/shim.h"
#include "static_checks/frontend/tree.h"

namespace capgate::lint {
namespace {

constexpr const char* kRefused = "the parser refused its arguments";

std::unique_ptr<Unit> new_unit(const UnitCommand& command, const ParseSettings& settings,
                               std::unique_ptr<Compilation> compilation) {
  auto unit = std::make_unique<Unit>();
  unit->main_file = command.file;
  unit->root = command.root;
  unit->cuda = command.cuda;
  unit->per_thread_default_stream = command.per_thread_default_stream;
  unit->foreign_dirs = command.foreign_dirs;
  unit->foreign_dirs.push_back(canonical_path(settings.resource_dir));
  unit->tree = std::make_unique<Tree>(*unit, std::move(compilation));
  return unit;
}

// What clang stumbles over when a launch is written as only nvcc reads it.
bool is_missing_an_expression(const Unit& unit, const std::vector<ParserError>& errors) {
  return unit.cuda && std::any_of(errors.begin(), errors.end(), [&](const ParserError& error) {
           return error.text == "expected expression" && unit.tree->is_user(error.at);
         });
}

struct Rewritten {
  std::string before, after;
};

// The user's files that launch so, by path: their text, and the one that clang reads.
std::map<std::string, Rewritten> launches_of_nvcc(const Unit& unit) {
  std::map<std::string, Rewritten> files;
  for (const IncludedFile& file : included_files(unit)) {
    if (!file.user || files.contains(file.path)) continue;
    if (std::optional<std::string> after = launches_for_clang(file.text))
      files[file.path] = {std::string(file.text), std::move(*after)};
  }
  return files;
}

}  // namespace

Result<ParsedUnit> parse_unit(const UnitCommand& command, const ParseSettings& settings) {
  // The real path is asked for by name later; here only that the file can be read, which clang would not say.
  if (const Result<std::string> text = read_file(command.file); !text) return Error{text.error()};
  Shim shim(command);
  std::vector<std::string> words = {"-resource-dir", settings.resource_dir, "-ferror-limit=0",
                                    "-fbracket-depth=1024", "-w"};
  words.insert(words.end(), shim.arguments().begin(), shim.arguments().end());
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  std::unique_ptr<Compilation> compilation = compile(command.file, words, shim);
  if (!compilation) {
    // A processor that clang does not know by gcc's name stops it before the first line.
    std::vector<std::string> general;
    std::copy_if(words.begin(), words.end(), std::back_inserter(general),
                 [](const std::string& word) { return !word.starts_with("-m"); });
    if (general.size() < words.size()) {
      words = std::move(general);
      compilation = compile(command.file, words, shim);
    }
  }
  if (!compilation) return Error{kRefused};
  std::vector<ParserError> errors = std::move(compilation->errors);
  ParsedUnit parsed;
  parsed.unit = new_unit(command, settings, std::move(compilation));
  if (is_missing_an_expression(*parsed.unit, errors))
    if (std::map<std::string, Rewritten> files = launches_of_nvcc(*parsed.unit); !files.empty()) {
      for (auto& [path, text] : files) shim.replace(path, std::move(text.after));
      compilation = compile(command.file, words, shim);
      if (!compilation) return Error{kRefused};
      errors = std::move(compilation->errors);
      parsed.unit = new_unit(command, settings, std::move(compilation));
      for (auto& [path, text] : files) parsed.unit->changed[path] = std::move(text.before);
    }
  parsed.functions = user_functions(*parsed.unit->tree);
  judge(errors, parsed);
  return parsed;
}

}  // namespace capgate::lint
