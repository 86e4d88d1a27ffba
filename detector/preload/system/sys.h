// The few things that the preloaded library needs from the system, without the C++ runtime and without
// malloc.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <atomic>

namespace capgate::preload {

// Held for a few instructions of our own and never across a call into CUDA, CUPTI or the program.
class SpinLock {
 public:
  bool try_lock() { return !held_.exchange(true, std::memory_order_acquire); }
  void lock() {
    while (!try_lock()) sched_yield();
  }
  void unlock() { held_.store(false, std::memory_order_release); }
  // Only in a forked child, where the holder no longer exists.
  void reset() { held_.store(false, std::memory_order_relaxed); }

 private:
  std::atomic<bool> held_{false};
};

class Locked {
 public:
  explicit Locked(SpinLock& lock) : lock_(lock) { lock_.lock(); }
  ~Locked() { lock_.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  SpinLock& lock_;
};

// While it lives, the thread is not cancelled: it would end in one of our system calls with a lock of ours
// held.
class Uncancelled {
 public:
  Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// The descriptor as another one above stderr, the first closed: where the program has closed the standard
// streams, what it prints would else go into our file. A failure gives -1.
int above_standard_streams(int fd);

inline uint64_t monotonic_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec) * 1000000000u + uint64_t(t.tv_nsec);
}

// The decimal number that `text` begins with; 0 when it begins with none.
inline uint64_t number_at(const char* text) {
  uint64_t value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + uint64_t(*text - '0');
  return value;
}

// Private memory straight from the kernel; null when there is none.
inline void* map_memory(size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

inline uint64_t hash_bytes(const void* data, size_t bytes, uint64_t seed = 0x9e3779b97f4a7c15u) {
  const auto* p = static_cast<const unsigned char*>(data);
  uint64_t h = seed ^ (bytes * 0xff51afd7ed558ccdu);
  while (bytes >= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    h = (h ^ word) * 0x9fb21c651e98df25u;
    h ^= h >> 29;
    p += 8;
    bytes -= 8;
  }
  uint64_t tail = 0;
  memcpy(&tail, p, bytes);
  h = (h ^ tail) * 0xc4ceb9fe1a85ec53u;
  h ^= h >> 32;
  h *= 0x9fb21c651e98df25u;
  return h ^ (h >> 31);
}

// A line of text in a fixed buffer: what does not fit is cut.
class Text {
 public:
  Text& operator<<(const char* s) { return add(s, strlen(s)); }
  Text& operator<<(uint64_t value);
  Text& hex(uint64_t value);
  Text& add(const char* s, size_t bytes);
  const char* c_str() const { return data_; }
  size_t size() const { return size_; }

 private:
  char data_[2048] = {};
  size_t size_ = 0;
};

// The first `size` bytes of a file; how many there were, 0 when it cannot be read.
size_t read_whole(const char* path, char* out, size_t size);

// One line on stderr, written whole: "capgate: TEXT". Silent when stderr is no longer what it was when the
// library was loaded (another file of the program may have its number now), nobody reads it, or it has no
// room.
void say(const Text& text);
// The same behind another head than "capgate: ".
void say(const char* head, const Text& text);

// The head and the text as one line; a control character in the text, which could steer a terminal, becomes a
// question mark.
Text printable_line(const char* head, const Text& text);

// In one write, unless there is no room. What the write raises (SIGPIPE, SIGXFSZ) does not reach the program.
void write_quietly(int fd, const Text& line);

// One of the launcher's settings (CAPGATE_…) as it stood when the library was loaded, or any other
// environment variable as it stands; an empty string when there is none. The program may change its
// environment at any time.
const char* setting(const char* name);

}  // namespace capgate::preload
