// What a module must forget in a forked child. Each module registers its own function, so that no other one
// has to know it.
#pragma once

namespace capgate::preload {

// The pointers lie side by side in one section of the library: no constructor runs, and no list is kept. The
// functions run in the child on its only thread, in no particular order, so none may rely on another one.
#define CAPGATE_AFTER_FORK(function)                                                                     \
  namespace {                                                                                            \
  __attribute__((used, section("capgate_after_fork"))) void (*const registered_after_fork)() = function; \
  }

// Installs the handler that calls them all. Once per process, before the first record is written.
void prepare_for_forks();

}  // namespace capgate::preload
