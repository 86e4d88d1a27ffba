// A compiler's command line in clang's words. Both translators are allow-lists: what they understand and the
// front end needs is kept, everything else is dropped, and said. (Passed on raw, an unknown option with a
// value makes clang fail without a diagnostic, and "-isystem=x" silently means a folder called "=x".)
#pragma once

#include <string>
#include <vector>

#include "static_checks/commands/gpu_arch.h"

namespace capgate::lint {

struct ClangArguments {
  std::vector<std::string>
      words;  // one option a word or two: "-I", "inc", "-DX=1"; neither program nor source
  std::vector<std::string> search_dirs;  // -iquote, -I and -isystem folders, as written, in order
  std::vector<std::string> dropped;      // what was left out, as written
  std::string language;                  // c | c++ | cuda; empty: by the file's name
  std::string standard;                  // "c++20"; empty: the command names none
  GpuArch arch;
  bool nvcc = false;  // the words were nvcc's
  bool per_thread_default_stream = false;
};

// nvcc's options, in both spellings, joined or apart. `arguments` is argv without the program, response files
// expanded.
ClangArguments translate_nvcc(const std::vector<std::string>& arguments);

// gcc's and clang's.
ClangArguments translate_host(const std::vector<std::string>& arguments);

// The same, added to what is there: the host compiler's part of an nvcc command.
void translate_host(const std::vector<std::string>& words, ClangArguments& out);

// Adds one folder or definition in canonical form.
void add_search_dir(ClangArguments& out, const char* option, const std::string& dir);
void add_definition(ClangArguments& out, const char* option, const std::string& definition);

}  // namespace capgate::lint
