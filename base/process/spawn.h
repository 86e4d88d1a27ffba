// Starting another program.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace capgate {

struct Spawn {
  std::string program;                                  // looked up in PATH when it has no slash
  std::vector<std::string> argv;                        // with the program's own name
  std::optional<std::vector<std::string>> environment;  // none: this process's own
  std::string folder;                                   // to start in; empty: this process's own
  int in = -1, out = -1, err = -1;                      // the standard streams; -1: this process's own
  bool dies_with_parent = false;
  // The signal state of the program; none: this process's own.
  const sigset_t* mask = nullptr;
  const struct sigaction* on_child = nullptr;
};

// The new process, or why the kernel refused to run the program.
Result<pid_t> spawn(const Spawn& what);

// Waits until the process ends. Its status, as waitpid gives it.
int wait_for(pid_t process);

}  // namespace capgate
