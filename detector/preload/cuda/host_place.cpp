#include "detector/preload/cuda/host_place.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "detector/preload/writer/modules.h"
#include "detector/preload/writer/thread_state.h"

namespace capgate::preload {
namespace {

uint64_t g_heap_start = 0;

}  // namespace

void find_heap() {
  const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  char text[4096 + 1];
  size_t kept = 0;
  for (ssize_t n; g_heap_start == 0 && (n = read(fd, text + kept, 4096 - kept)) > 0;) {
    size_t bytes = kept + size_t(n);
    text[bytes] = 0;
    char* line = text;
    for (char* end; (end = strchr(line, '\n')) != nullptr; line = end + 1) {
      *end = 0;
      if (strstr(line, "[heap]") == nullptr) continue;
      uint64_t value = 0;
      for (const char* p = line; *p != '-' && *p != 0; ++p)
        value = value * 16 + uint64_t(*p <= '9' ? *p - '0' : *p - 'a' + 10);
      g_heap_start = value;
      break;
    }
    kept = bytes - size_t(line - text);
    if (kept >= 4096) kept = 0;
    memmove(text, line, kept);
  }
  close(fd);
  if (g_heap_start == 0) g_heap_start = reinterpret_cast<uint64_t>(sbrk(0));
}

bool host_readable(uint64_t address) {
  // The kernel copies a byte for us and says so where there is none. Not by way of a descriptor: the program
  // may have closed ours and opened a file of its own under that number.
  char byte;
  iovec here{&byte, 1}, there{reinterpret_cast<void*>(address), 1};
  const int saved = errno;
  const bool faults = process_vm_readv(getpid(), &here, 1, &there, 1, 0) < 0 && errno == EFAULT;
  errno = saved;
  return !faults;
}

trace::HostPlace host_place(ThreadState& thread, uint64_t address) {
  find_stack_bounds(thread);
  if (on_a_stack(address)) return trace::HostPlace::stack;
  if (address >= g_heap_start && address < reinterpret_cast<uint64_t>(sbrk(0))) return trace::HostPlace::heap;
  if (in_module(address)) return trace::HostPlace::module_data;
  return trace::HostPlace::mapping;
}

}  // namespace capgate::preload
