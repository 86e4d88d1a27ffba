#include "static_checks/commands/compile_database.h"

#include "base/files/read_text.h"
#include "base/json/strict_json.h"
#include "static_checks/commands/files.h"
#include "static_checks/commands/shell_words.h"

namespace capgate::lint {
namespace {

using Json = nlohmann::json;

const std::string* string_at(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it == object.end() ? nullptr : it->get_ptr<const std::string*>();
}

Result<CompileEntry> read_entry(const Json& json, const std::string& where, const std::string& base) {
  if (!json.is_object()) return Error{where + " is not an object"};
  const std::string* directory = string_at(json, "directory");
  const std::string* file = string_at(json, "file");
  if (!file || file->empty()) return Error{where + " has no \"file\""};
  if (!directory) return Error{where + " (" + *file + ") has no \"directory\""};
  CompileEntry entry;
  entry.directory = absolute_path(*directory, base);
  entry.file = canonical_path(absolute_path(*file, entry.directory));
  if (const std::string* command = string_at(json, "command")) {
    entry.arguments = shell_words(*command);
  } else if (const auto list = json.find("arguments"); list != json.end() && list->is_array()) {
    for (const Json& word : *list) {
      const auto* text = word.get_ptr<const std::string*>();
      if (!text) return Error{where + " (" + *file + "): \"arguments\" holds something else than strings"};
      entry.arguments.push_back(*text);
    }
  }
  if (entry.arguments.empty())
    return Error{where + " (" + *file + R"() has neither "command" nor "arguments")"};
  return entry;
}

}  // namespace

Result<std::vector<CompileEntry>> read_compile_database(const std::string& path) {
  const std::string file = directory_exists(path) ? path + "/compile_commands.json" : path;
  const Result<std::string> text = read_file(file);
  if (!text)
    return Error{"cannot read the compile database " + text.error() +
                 (file_exists(file) ? "" : " (cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON writes one)")};
  const Result<Json> read = StrictJson::read<Json>(*text);
  if (!read) return Error{file + ": " + read.error()};
  const Json& json = *read;
  if (!json.is_array()) return Error{file + ": not a compile database: the top level is not a list"};
  const std::string base = canonical_path(parent_directory(absolute_path(file, current_directory())));
  std::vector<CompileEntry> entries;
  for (const Json& item : json) {
    Result<CompileEntry> entry =
        read_entry(item, file + ": entry " + std::to_string(entries.size() + 1), base);
    if (!entry) return Error{entry.error()};
    entries.push_back(std::move(*entry));
  }
  return entries;
}

}  // namespace capgate::lint
