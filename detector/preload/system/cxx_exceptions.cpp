#include "detector/preload/system/cxx_exceptions.h"

#include <dlfcn.h>
#include <string.h>

#include <atomic>

#include "detector/preload/system/safe_read.h"

namespace capgate::preload {
namespace {

// __cxa_eh_globals: its first two fields are fixed by the ABI.
struct Globals {
  void* caught;
  unsigned uncaught;
};

using GetGlobals = Globals* (*)();

std::atomic<bool> g_known{false};
std::atomic<GetGlobals> g_globals{nullptr};
// Where the type_info of a class with one base, and with several, points.
std::atomic<uint64_t> g_single_base{0}, g_many_bases{0};

constexpr int kDeepest = 16;  // derivations that are followed

uint64_t vtable(void* lib, const char* name) {
  constexpr uint64_t kBeforeFirst = 2 * sizeof(void*);  // offset to top, type_info
  const auto at = reinterpret_cast<uint64_t>(dlsym(lib, name));
  return at != 0 ? at + kBeforeFirst : 0;
}

bool load(uint64_t address, uint64_t* out) {
  return read_memory(address, out);
}

// Where the message lies in a class that is known: behind its first word, a pointer to the characters begins
// there, be it a std::string (its data pointer comes first) or the shared string of std::runtime_error.
bool keeps_a_message(const char* name) {
  for (const char* known : {"St13runtime_error", "St11logic_error", "N3c105ErrorE"})
    if (strcmp(name, known) == 0) return true;
  return false;
}

// The address of the part of `object` that is of a class which keeps a message; 0 when there is none.
uint64_t find_message(uint64_t object, uint64_t type, int depth) {
  constexpr uint64_t kBases = 16;  // of a type_info: behind its vtable and name
  char name[128];
  if (depth == kDeepest || cxx_type_name(type, name, sizeof(name)) == 0) return 0;
  if (keeps_a_message(name)) return object;
  uint64_t kind = 0;
  if (!load(type, &kind) || kind == 0) return 0;
  if (kind == g_single_base) {
    uint64_t base = 0;
    return load(type + kBases, &base) ? find_message(object, base, depth + 1) : 0;
  }
  if (kind != g_many_bases) return 0;
  struct {
    uint32_t flags, count;
  } head;
  if (!read_memory(type + kBases, &head) || head.count > kDeepest) return 0;
  for (uint32_t i = 0; i < head.count; ++i) {
    struct {
      uint64_t type;
      int64_t offset_and_flags;
    } base;
    constexpr int64_t kVirtual = 1, kPublic = 2;
    if (!read_memory(type + kBases + sizeof(head) + i * sizeof(base), &base)) return 0;
    if ((base.offset_and_flags & kVirtual) != 0 || (base.offset_and_flags & kPublic) == 0) continue;
    const uint64_t part = object + uint64_t(base.offset_and_flags >> 8);
    if (const uint64_t found = find_message(part, base.type, depth + 1)) return found;
  }
  return 0;
}

}  // namespace

void know_cxx_runtime(const void* function) {
  if (g_known.load(std::memory_order_acquire)) return;
  Dl_info where{};
  if (dladdr(function, &where) == 0 || where.dli_fname == nullptr) return;
  void* lib = dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (lib == nullptr) lib = RTLD_DEFAULT;  // the program's own file
  g_single_base = vtable(lib, "_ZTVN10__cxxabiv120__si_class_type_infoE");
  g_many_bases = vtable(lib, "_ZTVN10__cxxabiv121__vmi_class_type_infoE");
  g_globals = reinterpret_cast<GetGlobals>(dlsym(lib, "__cxa_get_globals"));
  g_known.store(true, std::memory_order_release);
}

CxxState cxx_state() {
  const GetGlobals get = g_known.load(std::memory_order_acquire) ? g_globals.load() : nullptr;
  const Globals* globals = get != nullptr ? get() : nullptr;
  if (globals == nullptr) return {};
  return {reinterpret_cast<uint64_t>(globals->caught), globals->uncaught};
}

size_t cxx_type_name(uint64_t type, char* out, size_t size) {
  constexpr uint64_t kName = 8;
  uint64_t name = 0;
  if (type == 0 || !load(type + kName, &name)) return 0;
  const size_t n = read_text(name, out, size);
  if (n == 0 || out[0] != '*') return n;  // a '*' says that names are compared by address
  memmove(out, out + 1, n);
  return n - 1;
}

size_t cxx_message(uint64_t object, uint64_t type, char* out, size_t size) {
  constexpr uint64_t kMessage = 8;
  uint64_t text = 0;
  const uint64_t part = find_message(object, type, 0);
  if (part == 0 || !load(part + kMessage, &text)) return 0;
  const size_t n = read_text(text, out, size);
  // What is not text is not the message: the class is laid out in another way than is known here.
  for (size_t i = 0; i < n; ++i)
    if (static_cast<unsigned char>(out[i]) < ' ' && strchr("\n\r\t", out[i]) == nullptr) return 0;
  return n;
}

}  // namespace capgate::preload
