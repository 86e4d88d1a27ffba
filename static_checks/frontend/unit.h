// One parsed translation unit, as far as one may know it without clang's headers.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace capgate::lint {

class Tree;  // frontend/tree.h: clang's syntax tree, for the front end and the lowering alone

// An error of the parser in the body of a host function of the user: the syntax tree has a hole there. An
// error in device-only code is not kept. An error inside a header's template is placed where the user's code
// asks for it.
struct ParseTrouble {
  std::string file;  // canonical path
  unsigned line = 0;
  unsigned offset = 0;  // bytes from the start of the file
  std::string message;  // clang's, one line
};

// Built by parse_unit (frontend/parse.h); read only, one thread.
struct Unit {
  std::unique_ptr<Tree> tree;
  std::string main_file;  // canonical absolute path
  std::string root;       // what is the user's lies below; no '/' at the end
  bool cuda = false;      // parsed as CUDA; a host .cpp is plain C++
  bool per_thread_default_stream =
      false;  // stream 0 is the thread's own: a launch without a stream is no fault
  std::vector<std::string>
      foreign_dirs;  // canonical folders that are never the user's: the toolkit, the compiler
  std::vector<ParseTrouble> trouble;
  std::map<std::string, std::string> changed;  // what files hold that were parsed with another text, by path

  Unit();
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;
  ~Unit();
};

// One file that went into the unit.
struct IncludedFile {
  std::string path;       // canonical
  std::string folder;     // where the file that includes it is; empty for the main file
  std::string_view text;  // as it was parsed
  bool user = false;
};
// The main file first; the shim's files are left out.
std::vector<IncludedFile> included_files(const Unit& unit);

}  // namespace capgate::lint
