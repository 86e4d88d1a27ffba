// Runs the audited program and stands by until it ends.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/audit/gpu_watch.h"

namespace capgate::cli {

struct ProgramRun {
  std::optional<int> exit_code;  // or:
  std::optional<int> signal;
  bool stopped_by_user = false;  // Ctrl-C, or a signal sent to capgate that it passed on
  bool aborted = false;          // a second one: the program was killed, nothing is to be judged
  double wall_s = 0;
  std::vector<pid_t> still_running;  // descendants that use CUDA and outlived the program
};

// Runs `path` with `argv` and `environment` on this process's own standard streams and in its process group,
// so that the terminal's Ctrl-C and Ctrl-Z reach the program by themselves; a signal that was sent to capgate
// alone is passed on. `watch` looks at its descendants meanwhile. SIGINT, SIGTERM, SIGHUP and SIGQUIT stay
// blocked when it returns: see SecondInterrupt. Fails when the program cannot be started.
Result<ProgramRun> run_program(const std::string& path, const std::vector<std::string>& argv,
                               const std::vector<std::string>& environment, GpuWatch& watch);

// While it lives, the second interruption of the audit (`already` counts those before) calls `clean_up` and
// ends this process with exit code 130.
class SecondInterrupt {
 public:
  SecondInterrupt(bool already, std::function<void()> clean_up);
  ~SecondInterrupt();
  SecondInterrupt(const SecondInterrupt&) = delete;
  SecondInterrupt& operator=(const SecondInterrupt&) = delete;

 private:
  struct State;
  State* state_;
};

}  // namespace capgate::cli
