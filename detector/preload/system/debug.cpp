#include "detector/preload/system/debug.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

namespace capgate::preload {
namespace {

// Opened for each line: no descriptor is kept. A pipe without a reader must not stop the program.
void append(const char* path, const Text& line) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
  const int fd = above_standard_streams(open(path, kFlags, 0600));
  if (fd < 0) return;
  write_quietly(fd, line);
  close(fd);
}

}  // namespace

void read_debug() {
  const char* wanted = setting("CAPGATE_DEBUG");
  g_debugging.store(*wanted != 0 && strcmp(wanted, "0") != 0, std::memory_order_relaxed);
}

void debug(const Text& text) {
  Text head;
  head << "capgate[" << uint64_t(getpid()) << ":" << uint64_t(gettid()) << "]: ";
  const char* path = setting("CAPGATE_DEBUG_FILE");
  if (*path == 0) {
    say(head.c_str(), text);
    return;
  }
  const Uncancelled uncancelled;
  const int saved = errno;
  append(path, printable_line(head.c_str(), text));
  errno = saved;
}

}  // namespace capgate::preload
