#include "base/process/spawn.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/process/file_descriptor.h"

namespace capgate {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> list;
  list.reserve(words.size() + 1);
  for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

Error errno_error(int number) {
  return Error{std::strerror(number)};
}

// In the child, where nothing may be allocated. Comes back only when the program does not run.
void become(const Spawn& what, char* const* argv, char* const* environment, pid_t parent) {
  if (what.dies_with_parent && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)) return;
  if (what.in >= 0 && dup2(what.in, STDIN_FILENO) < 0) return;
  if (what.out >= 0 && dup2(what.out, STDOUT_FILENO) < 0) return;
  if (what.err >= 0 && dup2(what.err, STDERR_FILENO) < 0) return;
  if (!what.folder.empty() && chdir(what.folder.c_str()) != 0) return;
  if (what.on_child != nullptr) sigaction(SIGCHLD, what.on_child, nullptr);
  if (what.mask != nullptr) sigprocmask(SIG_SETMASK, what.mask, nullptr);
  execvpe(what.program.c_str(), argv, environment);
}

}  // namespace

Result<pid_t> spawn(const Spawn& what) {
  const std::vector<char*> words = pointers(what.argv);
  const std::vector<char*> variables = what.environment ? pointers(*what.environment) : std::vector<char*>();
  char* const* const environment = what.environment ? variables.data() : environ;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno_error(errno);
  const FileDescriptor read_end(ends[0]);
  FileDescriptor write_end(ends[1]);

  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return errno_error(errno);
  if (child == 0) {
    become(what, words.data(), environment, parent);
    const int why = errno;
    if (write(write_end.get(), &why, sizeof why) < 0) _exit(126);
    _exit(127);
  }
  // The pipe closes by itself when the program runs.
  write_end.reset();
  int why = 0;
  ssize_t bytes = 0;
  do {
    bytes = read(read_end.get(), &why, sizeof why);
  } while (bytes < 0 && errno == EINTR);
  if (bytes != static_cast<ssize_t>(sizeof why)) return child;
  wait_for(child);
  return errno_error(why);
}

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace capgate
