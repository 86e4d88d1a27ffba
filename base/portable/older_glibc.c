/* Part of programs that are linked with an older glibc, and of no others: cmake/CapgateRelease.cmake.
   libstdc++.a, which was compiled for the glibc of this machine, uses what is here. */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* glibc 2.32 and later say here whether the process has one thread only; libstdc++ then does without atomic
   operations. 0, "perhaps more", is always a right answer. */
char __libc_single_threaded = 0;

/* glibc 2.36; for std::random_device. */
uint32_t arc4random(void) {
  uint32_t number = 0;
  if (getentropy(&number, sizeof number) != 0) abort();
  return number;
}
