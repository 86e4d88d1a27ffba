// How one unit is to be parsed: what of its compile command the worker needs, ready for clang.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "static_checks/commands/compile_database.h"
#include "static_checks/commands/cuda_toolkit.h"
#include "static_checks/model/archive.h"

namespace capgate::lint {

struct UnitCommand {
  std::string file;                       // canonical absolute path of the main file
  std::string directory;                  // the worker's working directory
  std::string root;                       // what is judged lies below
  std::vector<std::string> arguments;     // clang's, without -resource-dir and the shim
  std::vector<std::string> search_dirs;   // absolute, in order: where the unit's own headers are looked for
  std::vector<std::string> foreign_dirs;  // canonical: never the user's code
  bool cuda = false;
  bool needs_texture_fetch = false;  // the toolkit lacks the header that clang's CUDA wrapper includes
  bool per_thread_default_stream = false;
  std::vector<std::string> dropped;  // options left out: said by -v, and no part of the key
};
template <class A>
void fields(A& archive, UnitCommand& v) {
  archive(v.file, v.directory, v.root, v.arguments, v.search_dirs, v.foreign_dirs, v.cuda,
          v.needs_texture_fetch, v.per_thread_default_stream, v.dropped);
}

// Equal for commands that give the same unit.
std::string command_key(UnitCommand command);

struct CommandSettings {
  std::string cuda_path;  // --cuda-path, or empty
  std::string root;       // --root, or empty: the repository of each file
};

// The error is the sentence for the report: this unit cannot be parsed, and why.
Result<UnitCommand> unit_command(const CompileEntry& entry, const CommandSettings& settings);

// A command for a file that no database knows: `arguments` are the user's own, as a compiler takes them.
Result<UnitCommand> plain_command(const std::string& file, const std::vector<std::string>& arguments,
                                  const CommandSettings& settings);

// True for the names that C, C++ and CUDA sources have; headers are none.
bool is_source_name(const std::string& path);
bool is_header_name(const std::string& path);

}  // namespace capgate::lint
