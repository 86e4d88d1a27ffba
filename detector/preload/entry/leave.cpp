// _exit and _Exit run no exit handler: a process that ends so looks like one that was killed. The library
// stands before the two, notes the end, and ends the process as they do.
#include "detector/preload/entry/leave.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_end.h"
#include "detector/preload/writer/trace_file.h"

namespace preload = capgate::preload;

// Under other names here: libc's headers say more of the two than a definition may repeat.
extern "C" __attribute__((visibility("default"), noreturn)) void capgate_exit(int status) asm("_exit");
extern "C" __attribute__((visibility("default"), noreturn)) void capgate_exit_c99(int status) asm("_Exit");

void capgate_exit(int status) {
  // Between vfork and exec the trace is the parent's.
  if (preload::trace_live() && preload::trace_pid() == uint32_t(getpid())) {
    preload::ThreadState* thread = preload::this_thread();
    if (thread != nullptr && !thread->busy) {
      preload::Busy busy(*thread);
      preload::note_leaving(*thread);
    }
  }
  for (;;) syscall(SYS_exit_group, status);
}

void capgate_exit_c99(int status) {
  capgate_exit(status);
}

namespace capgate::preload {

void* own_exit() {
  return reinterpret_cast<void*>(&capgate_exit);
}

}  // namespace capgate::preload
