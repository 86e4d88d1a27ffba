// Stands before the C++ runtime's __cxa_throw, so that an exception is seen where it is thrown, its stack
// whole. It passes everything on: while no capture is open it costs one load, and it never throws or keeps
// anything. A runtime that is linked into the program or hidden in a library is not seen.
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include <atomic>

#include "detector/preload/calls/exceptions.h"
#include "detector/preload/cuda/captures.h"

namespace capgate::preload {
namespace {

// Not declared as one that never returns: the compiler then leaves by a jump, and no frame of ours is in the
// exception's way.
using Throw = void (*)(void* object, void* type, void (*destructor)(void*));

std::atomic<Throw> g_next{nullptr};

// Places that throw from libraries which the loader keeps apart, and the runtime that each of them is bound
// to. A slot is filled once and for all.
struct Bound {
  std::atomic<uint64_t> from;
  std::atomic<Throw> to;  // null while it is being filled
};
constexpr size_t kBound = 64;
Bound g_bound[kBound];

Bound& slot_of(const void* from) {
  return g_bound[reinterpret_cast<uint64_t>(from) / 4 % kBound];
}

Throw known_throw(const void* from) {
  const Bound& slot = slot_of(from);
  return slot.from.load(std::memory_order_relaxed) == reinterpret_cast<uint64_t>(from)
             ? slot.to.load(std::memory_order_acquire)
             : nullptr;
}

bool is_another(Throw found);

// What the library that holds `from` would have been bound to.
Throw bound_to(const void* from) {
  Dl_info where{};
  void* lib = nullptr;
  if (dladdr(from, &where) != 0 && where.dli_fname != nullptr)
    lib = dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  auto found = lib != nullptr ? reinterpret_cast<Throw>(dlsym(lib, "__cxa_throw")) : nullptr;
  if (!is_another(found)) {
    lib = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_NOLOAD);
    found = lib != nullptr ? reinterpret_cast<Throw>(dlsym(lib, "__cxa_throw")) : nullptr;
  }
  if (!is_another(found)) return nullptr;
  Bound& slot = slot_of(from);
  uint64_t nobody = 0;
  if (slot.from.compare_exchange_strong(nobody, reinterpret_cast<uint64_t>(from)))
    slot.to.store(found, std::memory_order_release);
  return found;
}

Throw next_throw(const void* from) {
  if (const Throw next = g_next.load(std::memory_order_acquire)) return next;
  if (const Throw next = known_throw(from)) return next;
  const int saved = errno;
  auto next = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
  if (next != nullptr)
    g_next.store(next, std::memory_order_release);
  else
    next = bound_to(from);
  errno = saved;
  return next;
}

}  // namespace
}  // namespace capgate::preload

extern "C" __attribute__((visibility("default"))) void __cxa_throw(void* object, void* type,
                                                                   void (*destructor)(void*)) {
  namespace preload = capgate::preload;
  const preload::Throw next = preload::next_throw(__builtin_return_address(0));
  // There is no runtime that could have made the exception: what it would do with one that nobody catches.
  if (next == nullptr) abort();
  if (preload::captures_open() != 0)
    preload::note_throw(reinterpret_cast<uint64_t>(object), reinterpret_cast<uint64_t>(type),
                        reinterpret_cast<const void*>(next));
  next(object, type, destructor);
}

namespace capgate::preload {
namespace {

bool is_another(Throw found) {
  return found != nullptr && found != reinterpret_cast<Throw>(__cxa_throw);
}

}  // namespace
}  // namespace capgate::preload
