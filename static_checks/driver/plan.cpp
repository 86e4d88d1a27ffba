#include "static_checks/driver/plan.h"

#include <algorithm>
#include <map>

#include "static_checks/commands/compile_database.h"
#include "static_checks/commands/files.h"
#include "static_checks/commands/include_scan.h"

namespace capgate::lint {
namespace {

const char* const kDatabase = "compile_commands.json";

// Where a database lies that the user did not name: in the folder of the first file or above it, else in
// build/.
std::string find_database(const LintSettings& settings) {
  const std::string here = canonical_path(current_directory());
  std::string start = here;
  if (!settings.files.empty()) {
    start = canonical_path(absolute_path(settings.files.front(), here));
    if (!directory_exists(start)) start = parent_directory(start);
  }
  for (const std::string& from : {start, here})
    if (const std::string folder = find_upwards(from, kDatabase); !folder.empty()) return folder;
  return file_exists(here + "/build/" + kDatabase) ? here + "/build" : "";
}

bool names_language(const CompileEntry& entry) {
  const auto& words = entry.arguments;
  for (size_t i = 1; i < words.size(); ++i) {
    const bool apart = words[i - 1] == "-x" || words[i - 1] == "--x";
    const std::string& word = words[i];
    if (apart && (word == "cu" || word == "cuda" || word == "c++" || word == "c")) return true;
    if (word == "-x=cu" || word == "-xcuda" || word == "-xc++" || word == "-xc") return true;
  }
  return false;
}

class Planner {
 public:
  explicit Planner(const LintSettings& settings)
      : settings_(settings), commands_{settings.cuda_path, settings.root} {}

  Result<Plan> plain() {
    const std::vector<std::string> none;
    for (const std::string& file : settings_.files)
      add(plain_command(file, settings_.arguments ? *settings_.arguments : none, commands_), file);
    return std::move(plan_);
  }

  Result<Plan> from_database(const std::string& path) {
    Result<std::vector<CompileEntry>> entries = read_compile_database(path);
    if (!entries) return Error{entries.error()};
    database_ = directory_exists(path) ? path + "/" + kDatabase : path;
    for (CompileEntry& entry : *entries) {
      if (is_source_name(entry.file) || names_language(entry))
        sources_.push_back(std::move(entry));
      else
        plan_.not_sources.push_back(entry.file);
    }
    if (settings_.files.empty())
      for (const CompileEntry& entry : sources_) add(entry);
    for (const std::string& file : settings_.files) named(file);
    if (!wanted_headers_.empty()) find_includers();
    return std::move(plan_);
  }

 private:
  void add(const CompileEntry& entry) { add(unit_command(entry, commands_), entry.file); }

  void add(Result<UnitCommand> command, const std::string& file) {
    if (!command) {
      plan_.unreachable.push_back(
          {file, command.error(), "configure the build again, or give --cuda-path DIR"});
      return;
    }
    // The same file with other options is another unit; the same options twice are not.
    if (known_.insert(command_key(*command)).second) plan_.units.push_back(std::move(*command));
  }

  // A file or folder of the command line.
  void named(const std::string& file) {
    const std::string path = canonical_path(absolute_path(file, current_directory()));
    const bool folder = directory_exists(path);
    const size_t before = plan_.units.size() + plan_.unreachable.size();
    bool found = false;
    for (const CompileEntry& entry : sources_)
      if (entry.file == path || (folder && is_below(entry.file, path))) add(entry), found = true;
    if (found || plan_.units.size() + plan_.unreachable.size() > before) return;
    if (folder)
      plan_.unreachable.push_back({file, "no unit of " + database_ + " is below it", "name another folder"});
    else if (is_source_name(path))
      plan_.unreachable.push_back(
          {file, "it is not in " + database_,
           "add it to the build, or give its options: capgate lint " + file + " -- OPTIONS"});
    else
      wanted_headers_.insert(path);
  }

  // Headers are looked at through the units that include them.
  void find_includers() {
    IncludeScanner scanner;
    std::set<std::string> reached;
    const std::set<std::string> known = known_;
    for (const CompileEntry& entry : sources_) {
      const Result<UnitCommand> command = unit_command(entry, commands_);
      if (!command) continue;  // if no other unit includes the header, that is said below
      bool includes = false;
      for (const std::string& header : scanner.headers_of(*command))
        if (wanted_headers_.contains(header)) includes = true, reached.insert(header);
      if (!includes || known.contains(command_key(*command))) continue;
      plan_.only_for_headers.insert(command->file);
      add(*command, entry.file);
    }
    for (const std::string& header : wanted_headers_)
      if (!reached.contains(header))
        plan_.unreachable.push_back(
            {header, "no unit of " + database_ + " includes it",
             "name a source that includes it, or look at it by itself: capgate lint " + header +
                 " -- OPTIONS"});
    plan_.headers = reached;
  }

  const LintSettings& settings_;
  CommandSettings commands_;
  std::string database_;
  std::vector<CompileEntry> sources_;
  std::set<std::string> wanted_headers_, known_;
  Plan plan_;
};

}  // namespace

Result<Plan> make_plan(const LintSettings& settings) {
  for (const std::string& file : settings.files)
    if (!file_exists(file) && !directory_exists(file)) return Error{file + ": no such file or folder"};
  for (const std::string& file : settings.files)
    if (file.ends_with(".py"))
      return Error{file + ": capgate lint reads C, C++ and CUDA. A Python program is judged when it runs: " +
                   "capgate audit --region 'STEP*' -- python3 " + file +
                   ", where STEP is the NVTX range around a step"};
  Planner planner(settings);
  if (settings.arguments) {
    if (settings.files.empty())
      return Error{"options behind -- are for files that are named: capgate lint FILES -- OPTIONS"};
    for (const std::string& file : settings.files)
      if (directory_exists(file))
        return Error{file + ": is a folder: options behind -- compile files that are named, such as " + file +
                     "/*.cu; for a folder, name a compile database: capgate lint -p BUILD " + file};
    if (!settings.build.empty())
      return Error{"-p and options behind -- exclude each other: both say how to compile"};
    return planner.plain();
  }
  if (!settings.build.empty()) return planner.from_database(settings.build);
  if (const std::string found = find_database(settings); !found.empty()) return planner.from_database(found);
  if (settings.files.empty())
    return Error{
        "no compile database: there is no compile_commands.json here, in a folder above or in build/ "
        "(cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON writes one; or name files: capgate lint FILES -- "
        "OPTIONS)"};
  return planner.plain();
}

}  // namespace capgate::lint
