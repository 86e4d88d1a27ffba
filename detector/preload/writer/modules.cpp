#include "detector/preload/writer/modules.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <unistd.h>

#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

constexpr uint32_t kMaxModules = 4096;
constexpr uint32_t kMaxBuildId = 64;

// One executable segment of an object.
struct Known {
  uint64_t start, end, bias, low, high, hash;
  const char* path;  // the loader's own copy: read only while the loader walks its list
};

struct Fresh {
  Known module;
  uint32_t build_id_bytes;
  uint32_t path_bytes;
  uint8_t build_id[kMaxBuildId];
  char path[PATH_MAX];
};

SpinLock g_lock;
Known* g_known = nullptr;
std::atomic<uint32_t> g_count{0};  // read without the lock: an entry is whole before it counts
unsigned long long g_adds = 0;
unsigned long long g_subs = 0;
Fresh* g_fresh = nullptr;
char g_exe[PATH_MAX];
std::atomic<bool> g_python_mapped{false};
uint64_t g_own_low = 0, g_own_high = 0;
uint64_t g_cupti_low = 0, g_cupti_high = 0;

uint32_t read_build_id(const dl_phdr_info& info, uint8_t* out) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* p = reinterpret_cast<const uint8_t*>(info.dlpi_addr + segment.p_vaddr);
    const uint8_t* end = p + segment.p_memsz;
    const size_t align = segment.p_align == 8 ? 8 : 4;
    while (size_t(end - p) >= sizeof(ElfW(Nhdr))) {
      ElfW(Nhdr) note;
      memcpy(&note, p, sizeof(note));
      const uint8_t* name = p + sizeof(note);
      const size_t name_bytes = (note.n_namesz + align - 1) & ~(align - 1);
      const size_t desc_bytes = (note.n_descsz + align - 1) & ~(align - 1);
      if (size_t(end - name) < name_bytes + desc_bytes) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
        const uint32_t bytes = note.n_descsz < kMaxBuildId ? note.n_descsz : kMaxBuildId;
        memcpy(out, name + name_bytes, bytes);
        return bytes;
      }
      p = name + name_bytes + desc_bytes;
    }
  }
  return 0;
}

// The first entry tells whether anything changed; the rest of the list is skipped if not.
struct Walk {
  bool changed = false;
  bool asked = false;
  uint32_t fresh = 0;
};

constexpr uint32_t kBatch = 16;

int visit_module(dl_phdr_info* info, size_t, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  if (!walk.asked) {
    walk.asked = true;
    walk.changed = info->dlpi_adds != g_adds || info->dlpi_subs != g_subs;
    if (!walk.changed) return 1;
  }
  uint64_t low = ~uint64_t(0), high = 0, start = 0, end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const uint64_t from = info->dlpi_addr + segment.p_vaddr;
    if (from < low) low = from;
    if (from + segment.p_memsz > high) high = from + segment.p_memsz;
    if ((segment.p_flags & PF_X) != 0) {
      if (end == 0) start = from;
      end = from + segment.p_memsz;
    }
  }
  if (end == 0) return 0;
  const char* path = info->dlpi_name != nullptr && info->dlpi_name[0] != 0 ? info->dlpi_name : g_exe;
  const uint64_t hash = hash_bytes(path, strlen(path), start ^ (end << 1));
  for (uint32_t i = g_count; i-- > 0;) {
    if (g_known[i].start != start) continue;
    if (g_known[i].hash == hash && g_known[i].bias == info->dlpi_addr) return 0;
    break;  // something else was mapped here before
  }
  if (g_count >= kMaxModules) return 0;
  Fresh& fresh = g_fresh[walk.fresh++];
  fresh.module = {start, end, info->dlpi_addr, low, high, hash, nullptr};
  fresh.build_id_bytes = read_build_id(*info, fresh.build_id);
  fresh.path_bytes = uint32_t(strlen(path));
  if (fresh.path_bytes >= sizeof(fresh.path)) fresh.path_bytes = sizeof(fresh.path) - 1;
  memcpy(fresh.path, path, fresh.path_bytes);
  fresh.path[fresh.path_bytes] = 0;
  g_known[g_count] = fresh.module;
  g_count.fetch_add(1, std::memory_order_release);
  if (strstr(path, "/libpython3") != nullptr) g_python_mapped.store(true);
  const auto here = reinterpret_cast<uint64_t>(&visit_module);
  if (here >= start && here < end) {
    g_own_low = start;
    g_own_high = end;
  }
  if (strstr(path, "/libcupti.so") != nullptr) {
    g_cupti_low = start;
    g_cupti_high = end;
  }
  return walk.fresh == kBatch ? 1 : 0;
}

// Libraries that hand out parts of the memory that CUDA gives them, as far as they are known: the analysis
// says whose blocks it saw.
struct KnownAllocator {
  const char* file;
  const char* fact;
};
constexpr KnownAllocator kAllocators[] = {
    {"/libc10_cuda.so", "allocator.PyTorch"}, {"/cupy/cuda/memory.", "allocator.CuPy"},
    {"/librmm.so", "allocator.RMM"},          {"/xla_cuda_plugin.so", "allocator.JAX"},
    {"/xla_extension.so", "allocator.JAX"},   {"/libtensorflow_framework.so", "allocator.TensorFlow"}};

void write_allocator(ThreadState& thread, const Fresh& fresh) {
  for (const KnownAllocator& known : kAllocators)
    if (const char* file = strstr(fresh.path, known.file)) write_meta(thread, known.fact, file + 1);
}

void write_module(ThreadState& thread, const Fresh& fresh) {
  const size_t bytes = sizeof(trace::ModuleRecord) + fresh.build_id_bytes + fresh.path_bytes;
  auto* record = static_cast<trace::ModuleRecord*>(reserve_record(thread, bytes));
  if (record == nullptr) return;
  record->start = fresh.module.start;
  record->end = fresh.module.end;
  record->bias = fresh.module.bias;
  record->build_id_bytes = fresh.build_id_bytes;
  record->path_bytes = fresh.path_bytes;
  auto* tail = reinterpret_cast<uint8_t*>(record + 1);
  memcpy(tail, fresh.build_id, fresh.build_id_bytes);
  memcpy(tail + fresh.build_id_bytes, fresh.path, fresh.path_bytes);
  commit_record(thread, record, trace::RecordType::module, bytes);
}

struct Finder {
  bool (*visit)(const char*, void*);
  void* data;
};

struct Located {
  uint64_t ip;
  char* path;
  size_t size;
  uint64_t* file_address;
};

int locate_in_module(dl_phdr_info* info, size_t, void* data) {
  auto& wanted = *static_cast<Located*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const uint64_t from = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || wanted.ip < from || wanted.ip >= from + segment.p_memsz) continue;
    const char* path = info->dlpi_name != nullptr && info->dlpi_name[0] != 0 ? info->dlpi_name : g_exe;
    size_t bytes = strlen(path);
    if (bytes >= wanted.size) bytes = wanted.size - 1;
    memcpy(wanted.path, path, bytes);
    wanted.path[bytes] = 0;
    *wanted.file_address = wanted.ip - info->dlpi_addr;
    return 1;
  }
  return 0;
}

}  // namespace

void refresh_modules(ThreadState& thread) {
  // Whoever comes second goes on: the first one writes what is new.
  if (!g_lock.try_lock()) return;
  if (g_known == nullptr) {
    g_known = static_cast<Known*>(map_memory(kMaxModules * sizeof(Known)));
    g_fresh = static_cast<Fresh*>(map_memory(kBatch * sizeof(Fresh)));
    const ssize_t n = readlink("/proc/self/exe", g_exe, sizeof(g_exe) - 1);
    g_exe[n > 0 ? n : 0] = 0;
  }
  unsigned long long adds = g_adds, subs = g_subs;
  while (g_known != nullptr && g_fresh != nullptr) {
    struct Counts {
      unsigned long long adds, subs;
    } counts{};
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* data) {
          *static_cast<Counts*>(data) = {info->dlpi_adds, info->dlpi_subs};
          return 1;
        },
        &counts);
    adds = counts.adds;
    subs = counts.subs;
    Walk walk;
    dl_iterate_phdr(visit_module, &walk);
    for (uint32_t i = 0; i < walk.fresh; ++i) {
      write_module(thread, g_fresh[i]);
      write_allocator(thread, g_fresh[i]);
    }
    if (walk.fresh < kBatch) break;
  }
  g_adds = adds;
  g_subs = subs;
  g_lock.unlock();
}

bool python_was_mapped() {
  return g_python_mapped.load(std::memory_order_relaxed) && g_python_mapped.exchange(false);
}

bool in_module(uint64_t address) {
  for (uint32_t i = 0; i < g_count; ++i)
    if (address >= g_known[i].low && address < g_known[i].high) return true;
  return false;
}

bool code_range(uint64_t address, uint64_t* low, uint64_t* high) {
  for (uint32_t i = 0; i < g_count; ++i) {
    if (address < g_known[i].start || address >= g_known[i].end) continue;
    *low = g_known[i].start;
    *high = g_known[i].end;
    return true;
  }
  return false;
}

bool in_own_code(uint64_t ip) {
  return ip >= g_own_low && ip < g_own_high;
}

bool in_watching_code(uint64_t ip) {
  return in_own_code(ip) || (ip >= g_cupti_low && ip < g_cupti_high);
}

bool find_module(bool (*visit)(const char*, void*), void* data) {
  Finder finder{visit, data};
  return dl_iterate_phdr(
             [](dl_phdr_info* info, size_t, void* p) {
               auto& f = *static_cast<Finder*>(p);
               return info->dlpi_name != nullptr && f.visit(info->dlpi_name, f.data) ? 1 : 0;
             },
             &finder) != 0;
}

bool locate_address(uint64_t ip, char* path, size_t size, uint64_t* file_address) {
  Located located{ip, path, size, file_address};
  return dl_iterate_phdr(locate_in_module, &located) != 0;
}

void describe_address(uint64_t ip, char* out, size_t size) {
  char path[PATH_MAX];
  uint64_t address = 0;
  Text text;
  if (locate_address(ip, path, sizeof(path), &address)) {
    const char* slash = strrchr(path, '/');
    (text << (slash != nullptr ? slash + 1 : path) << "+").hex(address);
  }
  const size_t n = text.size() < size ? text.size() : size - 1;
  memcpy(out, text.c_str(), n);
  out[n] = 0;
}

namespace {
void forget_in_child() {
  g_lock.reset();
  g_count = 0;
  g_adds = g_subs = 0;
}
}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

}  // namespace capgate::preload
