#include "detector/preload/python/python_lines.h"

#include <dlfcn.h>
#include <limits.h>
#include <sys/mman.h>
#include <unistd.h>

#include "detector/preload/python/python_exceptions.h"
#include "detector/preload/python/python_frames.h"
#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/parts.h"
#include "detector/preload/system/safe_read.h"
#include "detector/preload/writer/distinct.h"
#include "detector/preload/writer/modules.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

using DumpTraceback = void (*)(int fd, void* thread_state);
using ThisThreadState = void* (*)();
using GetVersion = const char* (*)();
using IsInitialized = int (*)();

DumpTraceback g_dump = nullptr;
ThisThreadState g_this_state = nullptr;
IsInitialized g_initialized = nullptr;
// Whether frames are read where they lie. Any thread that finds a difference ends it for all; a thread that
// has already decided to walk finishes that one stack, which does no harm: what it reads are its own frames.
std::atomic<bool> g_walks{false};

bool walks() {
  return g_walks.load(std::memory_order_relaxed);
}
Distinct g_stacks;
std::atomic<bool> g_found{false};

bool g_audited = false;  // set before main()

constexpr size_t kMaxText = 24 << 10;
constexpr uint32_t kCompared = 8;
std::atomic<uint32_t> g_compared{0};
std::atomic<bool> g_differs{false};  // to be told

// Also finds an interpreter that an embedding program has loaded for itself alone.
void* python_symbol(void* lib, const char* name) {
  void* symbol = dlsym(RTLD_DEFAULT, name);
  return symbol == nullptr && lib != nullptr ? dlsym(lib, name) : symbol;
}

void* open_libpython() {
  char path[PATH_MAX] = {};
  const bool found = find_module(
      [](const char* name, void* out) {
        const char* file = strrchr(name, '/');
        if (strncmp(file != nullptr ? file + 1 : name, "libpython3.", 11) != 0 || strlen(name) >= PATH_MAX)
          return false;
        strcpy(static_cast<char*>(out), name);
        return true;
      },
      path);
  return found ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
}

// What the dumper says of a thread that has a state and runs no Python: one of C++ that calls into it at
// times.
constexpr char kNoFrame[] = "<no Python frame>";

// Into a memory file of its own each time: a descriptor kept open could be closed and reused by the program.
size_t dump_stack(void* state, char* out, size_t size) {
  const Uncancelled uncancelled;
  const int fd = above_standard_streams(memfd_create("capgate", MFD_CLOEXEC));
  if (fd < 0) return 0;
  g_dump(fd, state);
  constexpr off_t kTitle = sizeof("Stack (most recent call first):\n") - 1;
  const ssize_t n = pread(fd, out, size, kTitle);
  close(fd);
  if (n <= 0) return 0;
  const size_t indent = out[0] == ' ' ? 2 : 0;  // from 3.9 on
  if (size_t(n) >= indent + sizeof(kNoFrame) - 1 && memcmp(out + indent, kNoFrame, sizeof(kNoFrame) - 1) == 0)
    return 0;
  return size_t(n);
}

// The layouts are the interpreter's private matter: the first stacks are read both ways, and one difference
// ends the walking.
bool walk_agrees(void* state, const char* walked, size_t walked_bytes) {
  char dumped[kMaxText];
  const size_t n = dump_stack(state, dumped, sizeof(dumped));
  return n == walked_bytes && memcmp(dumped, walked, n) == 0;
}

// The calling thread's state in an interpreter that runs; null when there is none.
void* running_state() {
  if ((g_dump == nullptr && !walks()) || g_this_state == nullptr) return nullptr;
  if (g_initialized != nullptr && g_initialized() == 0) return nullptr;
  return g_this_state();
}

size_t read_stack(void* state, char* out, size_t size) {
  if (!walks()) return dump_stack(state, out, size);
  const size_t n = write_python_frames(state, out, size);
  if (g_dump == nullptr || g_compared.load(std::memory_order_relaxed) >= kCompared || n == size) return n;
  g_compared.fetch_add(1, std::memory_order_relaxed);
  if (walk_agrees(state, out, n)) return n;
  g_walks.store(false, std::memory_order_relaxed);
  g_differs.store(true);
  return dump_stack(state, out, size);
}

// Stacks by the places of their frames, the latest of those that share a slot.
class KnownPlaces {
 public:
  uint32_t find(const uint64_t* places, size_t count) {
    const Known wanted = key(places, count, 0);
    Locked locked(lock_);
    if (slots_ == nullptr) return 0;
    const Known& held = slots_[wanted.hash % kSlots];
    return held.hash == wanted.hash && held.check == wanted.check ? held.id : 0;
  }
  void keep(const uint64_t* places, size_t count, uint32_t id) {
    const Known kept = key(places, count, id);
    Locked locked(lock_);
    if (slots_ == nullptr) slots_ = static_cast<Known*>(map_memory(kSlots * sizeof(Known)));
    if (slots_ != nullptr) slots_[kept.hash % kSlots] = kept;
  }
  void forget() {
    lock_.reset();
    if (slots_ != nullptr) memset(static_cast<void*>(slots_), 0, kSlots * sizeof(Known));
  }

 private:
  struct Known {
    uint64_t hash;
    uint32_t check, id;
  };
  static Known key(const uint64_t* places, size_t count, uint32_t id) {
    const size_t bytes = count * sizeof(*places);
    return {hash_bytes(places, bytes), uint32_t(hash_bytes(places, bytes, 0x5851f42d4c957f2du)), id};
  }
  static constexpr uint32_t kSlots = 4096;
  SpinLock lock_;
  Known* slots_ = nullptr;
};
KnownPlaces g_places;

// The stack that a site had when it was first met, the latest of those that share a slot. A site's upper bits
// and the stack's id are one word, so that no reader sees half of another thread's.
class KnownSites {
 public:
  uint32_t find(uint64_t site) const {
    const uint64_t held = slots_[site % kSlots].load(std::memory_order_relaxed);
    return site != 0 && (held ^ site) >> kIdBits == 0 ? uint32_t(held & kIds) : 0;
  }
  void keep(uint64_t site, uint32_t id) {
    if (site == 0 || id > kIds) return;
    slots_[site % kSlots].store((site & ~kIds) | id, std::memory_order_relaxed);
  }
  void forget() {
    for (auto& slot : slots_) slot.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr uint32_t kSlots = 4096, kIdBits = 24;
  static constexpr uint64_t kIds = (uint64_t{1} << kIdBits) - 1;
  std::atomic<uint64_t> slots_[kSlots] = {};
};
KnownSites g_sites;

// Empty: they can be read.
const char* why_no_exceptions(const char* version, void* lib) {
  if (!g_walks || !know_python_exceptions(version, python_symbol, lib))
    return "the exceptions of this Python cannot be read";
  return can_read_memory() ? "" : "the kernel does not let this process read by process_vm_readv";
}

uint32_t python_stack_by_text(ThreadState& thread, void* state) {
  char text[kMaxText];
  const size_t n = read_stack(state, text, sizeof(text));
  if (g_differs.load(std::memory_order_relaxed) && g_differs.exchange(false)) {
    write_meta(thread, "python.walk", "differs from the dumper, which is asked from now on: slower by far");
    for (const char* key : {"python.exceptions", "python.notices"})
      write_meta(thread, key, "the frames of this Python are not laid out as they should be");
  }
  return python_stack_of_text(thread, text, n);
}

}  // namespace

uint32_t python_stack_of_text(ThreadState& thread, const char* text, size_t n) {
  if (n == 0) return 0;
  bool fresh;
  const uint32_t id = g_stacks.find(text, n, &fresh);
  if (!fresh) return id;
  const size_t bytes = sizeof(trace::StringRecord) + n;
  auto* record = static_cast<trace::StringRecord*>(reserve_record(thread, bytes));
  if (record == nullptr) return id;
  record->id = id;
  record->bytes = uint32_t(n);
  memcpy(record + 1, text, n);
  commit_record(thread, record, trace::RecordType::python_stack, bytes);
  return id;
}

void python_is_audited() {
  g_audited = true;
}

void* python_state() {
  return g_walks ? running_state() : nullptr;
}

void find_python(ThreadState& thread) {
  if (g_found.load(std::memory_order_relaxed)) return;
  void* lib = nullptr;
  auto version = reinterpret_cast<GetVersion>(python_symbol(nullptr, "Py_GetVersion"));
  if (version == nullptr) {
    lib = open_libpython();
    version = reinterpret_cast<GetVersion>(python_symbol(lib, "Py_GetVersion"));
    if (version == nullptr) return;
  }
  if (g_found.exchange(true)) return;
  g_initialized = reinterpret_cast<IsInitialized>(python_symbol(lib, "Py_IsInitialized"));
  g_this_state = reinterpret_cast<ThisThreadState>(python_symbol(lib, "PyGILState_GetThisThreadState"));
  g_dump = reinterpret_cast<DumpTraceback>(python_symbol(lib, "_Py_DumpTraceback"));
  if (g_dump == nullptr)
    g_dump = reinterpret_cast<DumpTraceback>(python_symbol(lib, "PyUnstable_DumpTraceback"));
  write_meta(thread, "python", version());
  g_walks.store(know_python_frames(version(), python_symbol, lib), std::memory_order_release);
  Text why;
  if (g_this_state == nullptr || (g_dump == nullptr && !walks())) {
    g_dump = nullptr;
    g_walks.store(false, std::memory_order_relaxed);
    why << "the frames of this Python cannot be read: " << version();
  }
  write_meta(thread, "python.lines", why.c_str());
  write_meta(thread, "python.exceptions", why_no_exceptions(version(), lib));
  write_meta(thread, "python.notices",
             g_audited ? "" : "this interpreter was loaded later than the detector, or has no audit hooks");
}

uint32_t python_stack(ThreadState& thread) {
  void* state = running_state();
  if (state == nullptr) return 0;
  constexpr size_t kMaxPlaces = 606;
  uint64_t places[kMaxPlaces];
  const size_t count = walks() && !without(Part::known_stacks) ? python_places(state, places, kMaxPlaces) : 0;
  if (const uint32_t known = count != 0 ? g_places.find(places, count) : 0; known != 0) return known;
  const uint32_t id = python_stack_by_text(thread, state);
  if (count != 0 && walks()) g_places.keep(places, count, id);
  return id;
}

uint32_t frequent_python_stack(ThreadState& thread) {
  void* state = running_state();
  if (state == nullptr) return 0;
  const uint64_t site = walks() && !without(Part::known_stacks) ? python_site(state) : 0;
  if (const uint32_t known = g_sites.find(site); known != 0) return known;
  const uint32_t id = python_stack(thread);
  g_sites.keep(site, id);
  return id;
}

bool interpreter_code(uint64_t* low, uint64_t* high) {
  static std::atomic<uint64_t> known_low{0}, known_high{0};
  if (known_high.load(std::memory_order_acquire) == 0) {
    uint64_t from, to;
    if (!code_range(reinterpret_cast<uint64_t>(g_this_state), &from, &to)) return false;
    known_low.store(from, std::memory_order_relaxed);
    known_high.store(to, std::memory_order_release);
  }
  *low = known_low.load(std::memory_order_relaxed);
  *high = known_high.load(std::memory_order_relaxed);
  return true;
}

size_t python_text(char* out, size_t size) {
  void* state = running_state();
  return state != nullptr ? read_stack(state, out, size) : 0;
}

void describe_python(char* out, size_t size) {
  char text[2048];
  out[0] = 0;
  text[python_text(text, sizeof(text) - 1)] = 0;
  const char* line = strstr(text, "File \"");
  if (line == nullptr) return;
  const char* end = strchr(line, '\n');
  size_t bytes = end != nullptr ? size_t(end - line) : strlen(line);
  if (bytes >= size) bytes = size - 1;
  memcpy(out, line, bytes);
  out[bytes] = 0;
}

namespace {
void forget_in_child() {
  g_stacks.forget();
  g_places.forget();
  g_sites.forget();
  g_found.store(false);
}
}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

}  // namespace capgate::preload
