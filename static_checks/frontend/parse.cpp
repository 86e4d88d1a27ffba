#include "static_checks/frontend/parse.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "static_checks/frontend/files.h"
#include "static_checks/frontend/launch_syntax.h"

namespace capgate::lint {
namespace {

// KeepGoing: a header that is not found costs what it declares, not the rest of the file.
constexpr unsigned kOptions = CXTranslationUnit_KeepGoing;

struct Position {
  CXFile file = nullptr;
  unsigned line = 0, column = 0, offset = 0;
};

Position expansion(CXSourceLocation location) {
  Position at;
  clang_getExpansionLocation(location, &at.file, &at.line, &at.column, &at.offset);
  return at;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

bool is_missing_file(const std::string& message) {
  return contains(message, "file not found") || contains(message, "cannot open file") ||
         contains(message, "error opening file") || contains(message, "error reading");
}

// An instantiation that failed in a header: the place in the user's code that asked for it, from the notes.
Position asked_from(const Unit& unit, CXDiagnostic diagnostic) {
  CXDiagnosticSet notes = clang_getChildDiagnostics(diagnostic);
  Position at;
  for (unsigned i = 0; i < clang_getNumDiagnosticsInSet(notes) && !at.file; ++i) {
    CXDiagnostic note = clang_getDiagnosticInSet(notes, i);
    const CXSourceLocation location = clang_getDiagnosticLocation(note);
    if (contains(take(clang_getDiagnosticSpelling(note)), "requested here") && unit.is_user(location))
      at = expansion(location);
    clang_disposeDiagnostic(note);
  }
  return at;  // `notes` belongs to the diagnostic
}

class Judge {
 public:
  explicit Judge(ParsedUnit& parsed) : parsed_(parsed), unit_(*parsed.unit) {}

  void run() {
    const unsigned count = clang_getNumDiagnostics(unit_.tu);
    for (unsigned i = 0; i < count; ++i) {
      CXDiagnostic diagnostic = clang_getDiagnostic(unit_.tu, i);
      if (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) one(diagnostic);
      clang_disposeDiagnostic(diagnostic);
    }
    // What a header that is not there would have declared explains the errors that follow from it.
    if (missing_file_) {
      std::erase_if(parsed_.incomplete,
                    [](const Incomplete& reason) { return !is_missing_file(reason.text); });
    } else if (parsed_.incomplete.size() > kShownErrors) {
      const size_t more = parsed_.incomplete.size() - kShownErrors;
      parsed_.incomplete.resize(kShownErrors);
      parsed_.incomplete.back().text += " (and " + std::to_string(more) + " more errors outside functions)";
    }
  }

 private:
  void one(CXDiagnostic diagnostic) {
    const std::string message = take(clang_getDiagnosticSpelling(diagnostic));
    const CXSourceLocation location = clang_getDiagnosticLocation(diagnostic);
    Position at = expansion(location);
    if (!at.file) {
      incomplete(at, message, "check the unit's compile command");
    } else if (is_missing_file(message)) {
      missing_file_ = true;
      incomplete(at, message, "build once if the header is generated, else give its folder: -- -I DIR");
    } else if (clang_getDiagnosticSeverity(diagnostic) == CXDiagnostic_Fatal ||
               contains(message, "nesting level")) {
      incomplete(at, message, "the parser went no further: simplify the code there, or leave the file out");
    } else {
      if (!unit_.is_user(location)) at = asked_from(unit_, diagnostic);
      if (at.file)
        in_user_code(at, message);
      else
        ++parsed_.errors_in_foreign_code;
    }
  }

  void in_user_code(const Position& at, const std::string& message) {
    const std::string& path = unit_.path_of(at.file);
    const FunctionExtent* function = enclosing(parsed_.functions, path, at.offset);
    if (!function) {
      incomplete(at, message, "make clang-19 accept the declaration, or leave the file out");
    } else if (function->device_only || in_device_lambda(unit_, at.file, at.offset)) {
      ++parsed_.errors_in_device_code;
    } else {
      unit_.trouble.push_back({path, at.line, at.offset, message});
    }
  }

  void incomplete(const Position& at, const std::string& message, const char* remedy) {
    Incomplete reason;
    if (at.file)
      reason.place = {unit_.path_of(at.file), static_cast<int>(at.line), static_cast<int>(at.column)};
    reason.text = message;
    reason.remedy = remedy;
    // A header that many files of the unit miss is one reason.
    for (const Incomplete& known : parsed_.incomplete)
      if (known.text == message) return;
    parsed_.incomplete.push_back(std::move(reason));
  }

  static constexpr size_t kShownErrors = 3;
  ParsedUnit& parsed_;
  Unit& unit_;
  bool missing_file_ = false;
};

std::string describe(CXErrorCode code) {
  switch (code) {
    case CXError_Crashed:
      return "the parser crashed on it";
    case CXError_InvalidArguments:
      return "the parser refused its arguments";
    default:
      return "the parser gave no syntax tree (code " + std::to_string(code) + ")";
  }
}

CXErrorCode parse(const UnitCommand& command, const std::vector<std::string>& words, const Shim& shim,
                  Unit& unit) {
  std::vector<const char*> arguments;
  arguments.reserve(words.size());
  for (const std::string& word : words) arguments.push_back(word.c_str());
  std::vector<CXUnsavedFile> unsaved = shim.unsaved();
  return clang_parseTranslationUnit2(unit.index, command.file.c_str(), arguments.data(),
                                     static_cast<int>(arguments.size()), unsaved.data(),
                                     static_cast<unsigned>(unsaved.size()), kOptions, &unit.tu);
}

std::unique_ptr<Unit> new_unit(const UnitCommand& command, const ParseSettings& settings) {
  auto unit = std::make_unique<Unit>();
  unit->main_file = command.file;
  unit->root = command.root;
  unit->cuda = command.cuda;
  unit->per_thread_default_stream = command.per_thread_default_stream;
  unit->foreign_dirs = command.foreign_dirs;
  unit->foreign_dirs.push_back(canonical_path(settings.resource_dir));
  unit->index = clang_createIndex(/*excludeDeclarationsFromPCH=*/0, /*displayDiagnostics=*/0);
  return unit;
}

// What clang stumbles over when a launch is written as only nvcc reads it.
bool is_missing_an_expression(const Unit& unit) {
  const unsigned count = unit.cuda ? clang_getNumDiagnostics(unit.tu) : 0;
  bool found = false;
  for (unsigned i = 0; i < count && !found; ++i) {
    CXDiagnostic diagnostic = clang_getDiagnostic(unit.tu, i);
    found = take(clang_getDiagnosticSpelling(diagnostic)) == "expected expression" &&
            unit.is_user(clang_getDiagnosticLocation(diagnostic));
    clang_disposeDiagnostic(diagnostic);
  }
  return found;
}

struct Rewritten {
  std::string before, after;
};

// The user's files that launch so, by path: their text, and the one that clang reads.
std::map<std::string, Rewritten> launches_of_nvcc(const Unit& unit) {
  std::map<std::string, Rewritten> files;
  if (!is_missing_an_expression(unit)) return files;
  for (const IncludedFile& file : included_files(unit)) {
    if (!file.user || files.contains(file.path)) continue;
    size_t size = 0;
    const char* text = clang_getFileContents(unit.tu, file.file, &size);
    if (!text) continue;
    if (std::optional<std::string> after = launches_for_clang({text, size}))
      files[file.path] = {std::string(text, size), std::move(*after)};
  }
  return files;
}

}  // namespace

Result<ParsedUnit> parse_unit(const UnitCommand& command, const ParseSettings& settings) {
  // The real path is asked for by name later; here only that the file can be read, which clang would not say.
  if (const Result<std::string> text = read_file(command.file); !text) return Error{text.error()};
  ParsedUnit parsed;
  parsed.shim = std::make_unique<Shim>(command);
  parsed.unit = new_unit(command, settings);

  std::vector<std::string> words = {"-resource-dir", settings.resource_dir, "-ferror-limit=0",
                                    "-fbracket-depth=1024", "-w"};
  const std::vector<std::string>& shim = parsed.shim->arguments();
  words.insert(words.end(), shim.begin(), shim.end());
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  CXErrorCode code = parse(command, words, *parsed.shim, *parsed.unit);
  if (code != CXError_Success || !parsed.unit->tu) {
    // A processor that clang does not know by gcc's name stops it before the first line.
    std::vector<std::string> general;
    std::copy_if(words.begin(), words.end(), std::back_inserter(general),
                 [](const std::string& word) { return !word.starts_with("-m"); });
    if (general.size() < words.size()) {
      words = std::move(general);
      code = parse(command, words, *parsed.shim, *parsed.unit);
    }
  }
  if (code != CXError_Success || !parsed.unit->tu) return Error{describe(code)};
  if (std::map<std::string, Rewritten> files = launches_of_nvcc(*parsed.unit); !files.empty()) {
    parsed.unit = new_unit(command, settings);
    for (auto& [path, text] : files) {
      parsed.shim->replace(path, std::move(text.after));
      parsed.unit->changed[path] = std::move(text.before);
    }
    code = parse(command, words, *parsed.shim, *parsed.unit);
    if (code != CXError_Success || !parsed.unit->tu) return Error{describe(code)};
  }
  parsed.functions = user_functions(*parsed.unit);
  Judge(parsed).run();
  return parsed;
}

namespace {

struct Inclusions {
  const Unit& unit;
  std::vector<IncludedFile> list;
};

void visit_inclusion(CXFile file, CXSourceLocation* stack, unsigned depth, CXClientData data) {
  auto& inclusions = *static_cast<Inclusions*>(data);
  const std::string& path = inclusions.unit.path_of(file);
  if (path.starts_with(kShimDir)) return;
  IncludedFile included{file, path, "", path == inclusions.unit.main_file};
  if (depth > 0)
    if (const Position from = expansion(stack[0]); from.file)
      included.folder = parent_directory(inclusions.unit.path_of(from.file));
  // libclang searches long for a location in a file: asked only where it decides.
  if (!included.user && inclusions.unit.is_in_root(file))
    included.user = inclusions.unit.is_user(clang_getLocationForOffset(inclusions.unit.tu, file, 0));
  inclusions.list.push_back(std::move(included));
}

}  // namespace

std::vector<IncludedFile> included_files(const Unit& unit) {
  Inclusions inclusions{unit, {}};
  clang_getInclusions(unit.tu, visit_inclusion, &inclusions);
  return std::move(inclusions.list);
}

}  // namespace capgate::lint
