#include "detector/preload/system/at_fork.h"

#include <pthread.h>

#include "detector/preload/system/debug.h"

// The linker defines these two around the section.
extern "C" {
extern void (*const __start_capgate_after_fork[])() __attribute__((visibility("hidden")));
extern void (*const __stop_capgate_after_fork[])() __attribute__((visibility("hidden")));
}

namespace capgate::preload {
namespace {

void after_fork_in_child() {
  for (void (*const* function)() = __start_capgate_after_fork; function != __stop_capgate_after_fork;
       ++function)
    (*function)();
  if (debugging()) debug(Text() << "forked: this child records nothing until it starts CUDA itself");
}

}  // namespace

void prepare_for_forks() {
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
}

}  // namespace capgate::preload
