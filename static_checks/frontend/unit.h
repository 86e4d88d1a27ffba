// One parsed translation unit, as the analysis sees it.
#pragma once

#include <clang-c/Index.h>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace capgate::lint {

// An error of the parser in the body of a host function of the user: the syntax tree has a hole there. An
// error in device-only code is not kept. An error inside a header's template is placed where the user's code
// asks for it.
struct ParseTrouble {
  std::string file;  // canonical path
  unsigned line = 0;
  unsigned offset = 0;  // bytes from the start of the file
  std::string message;  // clang's, one line
};

// Valid while the translation unit is. Built by parse_unit (frontend/parse.h); read only, one thread.
struct Unit {
  CXIndex index = nullptr;
  CXTranslationUnit tu = nullptr;
  std::string main_file;  // canonical absolute path
  std::string root;       // what is the user's lies below; no '/' at the end
  bool cuda = false;      // parsed as CUDA; a host .cpp is plain C++
  bool per_thread_default_stream =
      false;  // stream 0 is the thread's own: a launch without a stream is no fault
  std::vector<std::string>
      foreign_dirs;  // canonical folders that are never the user's: the toolkit, the compiler
  std::vector<ParseTrouble> trouble;
  std::map<std::string, std::string> changed;  // what files hold that were parsed with another text, by path

  // Canonical absolute path of a file; empty for none. Cached: cheap to ask again.
  const std::string& path_of(CXFile file) const { return known(file).path; }

  // True for code that is judged: below the root, and neither in a system header nor in a foreign folder.
  // Asked of the expansion location, so that a macro counts where it is used.
  bool is_user(CXSourceLocation location) const;
  bool is_user(CXCursor cursor) const { return is_user(clang_getCursorLocation(cursor)); }

  // Below the root and in no foreign folder; whether the file is a system header is not asked.
  bool is_in_root(CXFile file) const { return known(file).user; }

  // The parser's trouble inside the cursor's extent, in the file's order. A function with trouble is "not
  // analysed".
  std::vector<const ParseTrouble*> trouble_in(CXCursor function) const;

  Unit() = default;
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;
  ~Unit();

 private:
  struct Known {
    std::string path;
    bool user = false;
  };
  const Known& known(CXFile file) const;
  mutable std::unordered_map<CXFile, Known> known_;
};

// The text of a CXString, which it disposes of.
std::string take(CXString string);

}  // namespace capgate::lint
