// The file behind PROGRAM, and what about it would keep the detector out.
#pragma once

#include <string>

#include "base/result.h"

namespace capgate::cli {

struct ProgramFile {
  std::string path;            // what execvp will run
  bool is_elf = false;         // else a script
  bool is_static = false;      // no dynamic loader, so nothing is preloaded
  bool is_privileged = false;  // set-uid, set-gid or file capabilities: the loader ignores LD_PRELOAD
  std::string sanitizer;       // "AddressSanitizer" when its runtime insists on being loaded first
};

// Looks `word` up as a shell does: with a slash a path, else along $PATH. Fails when there is no such file or
// it may not be run.
Result<ProgramFile> find_program(const std::string& word);

}  // namespace capgate::cli
