#include "detector/preload/writer/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/debug.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/thread_state.h"

namespace capgate::preload {
namespace {

constexpr size_t kHeaderBytes = 4096;
constexpr size_t kChunkBytes = 64 << 10;
constexpr size_t kSmallStep = 16 * kChunkBytes;
constexpr size_t kStep = 64 * kChunkBytes;
constexpr uint64_t kResidentChunks =
    256;  // 16 MiB; older chunks leave the process and stay in the page cache

SpinLock g_lock;
uint8_t* g_base = nullptr;
size_t g_reserved = 0;  // address space
size_t g_mapped = 0;    // backed by the file
dev_t g_device = 0;
ino_t g_inode = 0;
std::atomic<bool> g_full{false};  // written under the lock, read without it
char g_path[PATH_MAX];

trace::FileHeader* header() {
  return reinterpret_cast<trace::FileHeader*>(g_base);
}

// RLIMIT_FSIZE is asked first: growing past it would send SIGXFSZ to the program.
bool within_file_limit(size_t bytes) {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur);
}

// Adds `bytes` to the mapping. Every page is backed by preallocated blocks, so that a full disk is an error
// here and never a SIGBUS later. No descriptor is kept: programs close them all and get the numbers again.
bool grow(int fd, size_t bytes) {
  if (g_mapped + bytes > g_reserved || !within_file_limit(g_mapped + bytes)) return false;
  if (posix_fallocate(fd, off_t(g_mapped), off_t(bytes)) != 0) return false;
  void* p =
      mmap(g_base + g_mapped, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, off_t(g_mapped));
  if (p == MAP_FAILED) return false;
  g_mapped += bytes;
  return true;
}

bool grow_again() {
  const Uncancelled uncancelled;
  const int fd = above_standard_streams(open(g_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (fd < 0) return false;
  struct stat now;
  const size_t step = g_mapped < 4 * kStep ? kSmallStep : kStep;
  const bool ok = fstat(fd, &now) == 0 && now.st_dev == g_device && now.st_ino == g_inode &&
                  (grow(fd, step) || grow(fd, kChunkBytes));
  close(fd);
  return ok;
}

// Hands the thread a fresh chunk.
bool claim_chunk(ThreadState& thread) {
  Locked locked(g_lock);
  if (!trace_live()) return false;
  const uint64_t index = header()->next_chunk;
  const size_t end = kHeaderBytes + (index + 1) * kChunkBytes;
  if (end > g_mapped) {
    const int saved = errno;
    if (!g_full.load(std::memory_order_relaxed) && !grow_again()) {
      g_full.store(true, std::memory_order_relaxed);
      if (debugging()) debug(Text() << "no more room for the trace after " << g_mapped << " bytes");
    }
    errno = saved;
    if (end > g_mapped) return false;
  }
  __atomic_store_n(&header()->next_chunk, index + 1, __ATOMIC_RELEASE);
  uint8_t* chunk = g_base + kHeaderBytes + index * kChunkBytes;
  auto* head = reinterpret_cast<trace::ChunkHeader*>(chunk);
  head->tid = thread.tid.load(std::memory_order_relaxed);
  head->index = uint32_t(index);
  __atomic_store_n(&head->magic, trace::kChunkMagic, __ATOMIC_RELEASE);
  thread.cursor = chunk + sizeof(trace::ChunkHeader);
  thread.chunk_end = chunk + kChunkBytes;
  // All of its pages at once: one fault each, on first touch, would cost more than everything else that a
  // record does.
  const auto first = reinterpret_cast<uintptr_t>(chunk) & ~uintptr_t(4095);
  const int before = errno;
  madvise(reinterpret_cast<void*>(first), kChunkBytes,
          MADV_POPULATE_WRITE);  // an old kernel refuses: slower, not wrong
  errno = before;
  if (index >= kResidentChunks && index % 64 == 0) {
    madvise(g_base + kHeaderBytes + (index - kResidentChunks) * kChunkBytes, 64 * kChunkBytes, MADV_DONTNEED);
  }
  return true;
}

uint64_t start_time() {
  char text[1024];
  const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t n = read(fd, text, sizeof(text) - 1);
  close(fd);
  if (n <= 0) return 0;
  text[n] = 0;
  const char* p = strrchr(text, ')');  // the name may hold anything
  for (int field = 2; p != nullptr && field < 22; ++field) {
    p = strchr(p + 1, ' ');
  }
  return p != nullptr ? number_at(p + 1) : 0;
}

uint64_t realtime_ns() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return uint64_t(t.tv_sec) * 1000000000u + uint64_t(t.tv_nsec);
}

// The addresses may belong to the program from now on: a forked child must not give them back once more.
void release_addresses() {
  munmap(g_base, g_reserved);
  g_base = nullptr;
  g_reserved = g_mapped = 0;
}

bool reserve_addresses(uint64_t limit) {
  for (uint64_t bytes = limit; bytes >= (8u << 20); bytes /= 2) {
    void* p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) continue;
    g_base = static_cast<uint8_t*>(p);
    g_reserved = bytes;
    return true;
  }
  return false;
}

// The word that says "recording": on a page that the kernel zeroes in every child, whatever made the child.
bool make_live_word() {
  void* p = map_memory(4096);
  if (p == nullptr) return false;
  madvise(p, 4096, MADV_WIPEONFORK);  // an old kernel refuses: pthread_atfork still covers fork()
  g_live = static_cast<std::atomic<uint32_t>*>(p);
  return true;
}

}  // namespace

bool open_trace(const char* dir, uint64_t limit_bytes, const char** why) {
  *why = "no memory";
  if (g_live == nullptr && !make_live_word()) return false;
  const Uncancelled uncancelled;
  Text path;
  path << dir << "/" << uint64_t(getpid()) << "-" << start_time() << ".cgraw";
  if (path.size() >= sizeof(g_path)) {
    *why = "its path is too long";
    return false;
  }
  memcpy(g_path, path.c_str(), path.size() + 1);
  if (!reserve_addresses(limit_bytes)) return false;
  // O_EXCL: after an exec the same process starts again under the same name and must not write over the first
  // trace.
  int fd = open(g_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  for (int again = 1; fd < 0 && errno == EEXIST && again < 100; ++again) {
    Text next;
    next << dir << "/" << uint64_t(getpid()) << "-" << start_time() << "-" << uint64_t(again) << ".cgraw";
    memcpy(g_path, next.c_str(), next.size() + 1);
    fd = open(g_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  }
  if (fd < 0) {
    *why = errno == EACCES || errno == EROFS ? "the folder is not writable"
           : errno == ENOENT                 ? "the folder does not exist"
                                             : "the file cannot be made";
    release_addresses();
    return false;
  }
  fd = above_standard_streams(fd);
  struct stat made;
  const bool known = fstat(fd, &made) == 0;
  g_device = made.st_dev;
  g_inode = made.st_ino;
  if (!known || !(grow(fd, kHeaderBytes + kSmallStep) || grow(fd, kHeaderBytes + kChunkBytes))) {
    *why = "the disk is full or a limit on file sizes was reached";
    close(fd);
    unlink(g_path);
    release_addresses();
    return false;
  }
  close(fd);
  trace::FileHeader* h = header();
  h->version = trace::kVersion;
  h->header_bytes = kHeaderBytes;
  h->chunk_bytes = kChunkBytes;
  h->pid = uint32_t(getpid());
  h->ppid = uint32_t(getppid());
  h->state = uint32_t(trace::FileState::open);
  h->start_realtime_ns = realtime_ns();
  h->start_monotonic_ns = monotonic_ns();
  h->limit_bytes = g_reserved;
  memcpy(h->magic, trace::kMagic, sizeof(h->magic));
  g_live->store(1, std::memory_order_release);
  if (debugging()) debug(Text() << "trace " << g_path << ", room for " << (g_reserved >> 20) << " MiB");
  return true;
}

size_t max_record_bytes() {
  return kChunkBytes - sizeof(trace::ChunkHeader);
}

bool trace_is_filling() {
  return g_full.load(std::memory_order_relaxed) ||
         kHeaderBytes + __atomic_load_n(&header()->next_chunk, __ATOMIC_RELAXED) * kChunkBytes >
             g_reserved / 2;
}

uint32_t trace_pid() {
  return header()->pid;
}

uint64_t next_seq() {
  return __atomic_add_fetch(&header()->seq, 1, __ATOMIC_RELAXED);
}

void* reserve_record(ThreadState& thread, size_t bytes) {
  bytes = (bytes + 7) & ~size_t(7);
  if (!trace_live()) return nullptr;
  if (thread.cursor == nullptr || size_t(thread.chunk_end - thread.cursor) < bytes) {
    if (bytes > max_record_bytes() || !claim_chunk(thread)) {
      __atomic_add_fetch(&header()->dropped, 1, __ATOMIC_RELAXED);
      return nullptr;
    }
  }
  return thread.cursor;
}

void commit_record(ThreadState& thread, void* record, trace::RecordType type, size_t bytes, uint64_t seq,
                   uint16_t flags) {
  bytes = (bytes + 7) & ~size_t(7);
  auto* head = static_cast<trace::RecordHeader*>(record);
  head->type = uint16_t(type);
  head->flags = flags;
  head->seq = seq != 0 ? seq : next_seq();
  __atomic_store_n(&head->bytes, uint32_t(bytes), __ATOMIC_RELEASE);
  __atomic_add_fetch(&header()->events, 1, __ATOMIC_RELAXED);
  thread.cursor += bytes;
}

void write_meta(ThreadState& thread, const char* key, const char* value, size_t value_bytes) {
  if (debugging()) debug(Text().add(key, strlen(key)) << ": " << (value_bytes > 0 ? value : "-"));
  const size_t key_bytes = strlen(key);
  if (value_bytes > 32 << 10) value_bytes = 32 << 10;
  const size_t bytes = sizeof(trace::MetaRecord) + key_bytes + value_bytes;
  auto* record = static_cast<trace::MetaRecord*>(reserve_record(thread, bytes));
  if (record == nullptr) return;
  record->key_bytes = uint32_t(key_bytes);
  record->value_bytes = uint32_t(value_bytes);
  memcpy(record + 1, key, key_bytes);
  memcpy(reinterpret_cast<char*>(record + 1) + key_bytes, value, value_bytes);
  commit_record(thread, record, trace::RecordType::meta, bytes);
}

void write_meta(ThreadState& thread, const char* key, const char* value) {
  write_meta(thread, key, value, strlen(value));
}

void close_trace(trace::FileState state) {
  const Uncancelled uncancelled;
  Locked locked(g_lock);
  if (!trace_live()) return;
  g_full.store(true, std::memory_order_relaxed);
  const size_t used = kHeaderBytes + header()->next_chunk * kChunkBytes;
  __atomic_store_n(&header()->state, uint32_t(state), __ATOMIC_RELEASE);
  g_live->store(0, std::memory_order_release);
  // Unused room goes back. Nobody writes above `used`: a chunk is claimed under the lock and only while live.
  const int fd = above_standard_streams(open(g_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (fd < 0) return;
  struct stat now;
  if (fstat(fd, &now) == 0 && now.st_dev == g_device && now.st_ino == g_inode && size_t(now.st_size) > used) {
    if (ftruncate(fd, off_t(used)) == 0) g_mapped = used;
  }
  close(fd);
}

void abandon_chunk(ThreadState& thread) {
  thread.cursor = thread.chunk_end = nullptr;
}

namespace {
void forget_in_child() {
  g_lock.reset();
  if (g_live != nullptr) g_live->store(0, std::memory_order_relaxed);
  if (g_base != nullptr) munmap(g_base, g_reserved);
  g_base = nullptr;
  g_reserved = g_mapped = 0;
  g_full.store(false, std::memory_order_relaxed);
}
}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

}  // namespace capgate::preload
