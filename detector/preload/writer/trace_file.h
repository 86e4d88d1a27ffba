// The raw trace of this process: a shared mapping that grows by preallocated steps. See
// detector/trace/format.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <atomic>

#include "detector/trace/format.h"

namespace capgate::preload {

struct ThreadState;

// Creates DIR/<pid>-<starttime>.cgraw with room for limit_bytes of address space. False: `why` says what
// failed, and the library stays silent for the rest of the process.
bool open_trace(const char* dir, uint64_t limit_bytes, const char** why);

// True while records may be written: false before the file exists, after the end, and in a forked child.
inline std::atomic<uint32_t>* g_live = nullptr;
inline bool trace_live() {
  return g_live != nullptr && g_live->load(std::memory_order_relaxed) != 0;
}

// The process whose trace it is.
uint32_t trace_pid();

// A zeroed record of the calling thread's chunk, to be filled and then committed. Null when there is no room:
// counted as dropped.
void* reserve_record(ThreadState& thread, size_t bytes);
uint64_t next_seq();
// `thread` is the one that reserved the record.
void commit_record(ThreadState& thread, void* record, trace::RecordType type, size_t bytes, uint64_t seq = 0,
                   uint16_t flags = 0);

// A fixed-size record.
template <class T>
T* reserve(ThreadState& thread) {
  return static_cast<T*>(reserve_record(thread, sizeof(T)));
}

// The largest record that a chunk holds.
size_t max_record_bytes();

// True when half of the room is used up: from then on only captures, errors and regions are written.
bool trace_is_filling();

void write_meta(ThreadState& thread, const char* key, const char* value, size_t value_bytes);
void write_meta(ThreadState& thread, const char* key, const char* value);

// Marks the file and stops all writing. Safe to call twice; the first state stays.
void close_trace(trace::FileState state);

// The thread's unfinished chunk is left for good when it ends.
void abandon_chunk(ThreadState& thread);

}  // namespace capgate::preload
