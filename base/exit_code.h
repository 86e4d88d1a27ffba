// Exit codes of every capgate command. They are API: people's CI branches on them.
#pragma once

namespace capgate {

enum ExitCode : int {
  kExitPass = 0,          // pass, or done
  kExitFail = 1,          // an unsuppressed error (or a warning under --fail-on warning)
  kExitInconclusive = 2,  // inconclusive; also usage and bad input
  kExitProgramError = 3,  // audit: its only reason is that the program itself ended with an error
  kExitInterrupted = 130  // a second Ctrl-C
};

}  // namespace capgate
