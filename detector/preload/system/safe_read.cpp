#include "detector/preload/system/safe_read.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

namespace capgate::preload {

bool read_memory(uint64_t address, void* out, size_t bytes) {
  const iovec here{out, bytes}, there{reinterpret_cast<void*>(address), bytes};
  const int saved = errno;
  const bool whole = process_vm_readv(getpid(), &here, 1, &there, 1, 0) == ssize_t(bytes);
  errno = saved;
  return whole;
}

size_t read_text(uint64_t address, char* out, size_t size) {
  // In pieces that do not cross the piece's own alignment, so that none crosses into a page that is not
  // there.
  constexpr size_t kPiece = 64;
  size_t used = 0;
  while (used + 1 < size) {
    size_t n = kPiece - (address + used) % kPiece;
    if (n > size - 1 - used) n = size - 1 - used;
    if (!read_memory(address + used, out + used, n)) break;
    const void* end = memchr(out + used, 0, n);
    if (end != nullptr) return size_t(static_cast<const char*>(end) - out);
    used += n;
  }
  out[used] = 0;
  return used;
}

bool can_read_memory() {
  const int there = 1;
  int copy = 0;
  return read_memory(reinterpret_cast<uint64_t>(&there), &copy) && copy == 1;
}

}  // namespace capgate::preload
