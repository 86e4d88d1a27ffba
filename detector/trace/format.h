// The raw trace: what the preloaded library writes and everything after it reads. One file per process,
// append-only, written through a shared mapping, so that what was written survives a crash, _exit and SIGKILL
// of the program.
//
// Layout: FileHeader, then chunks of FileHeader::chunk_bytes, each claimed by one thread (fetch_add on
// next_chunk) and filled by it alone. Records stand one behind another in a chunk, 8-byte aligned. A record
// is valid once its `bytes` is non-zero: the writer fills the body first and stores `bytes` last (release).
// Zero ends a chunk. `seq` is one counter for the whole process and orders the records of all threads; a
// reader sorts by it.
//
// A CallRecord is written when the call is entered (result == kPending) and patched in place when it returns,
// so a call that never came back is visible as such.
//
// Plain data only: this header is shared by the preloaded library, which may use nothing but libc.
#pragma once

#include <stdint.h>

#include "detector/trace/call_record.h"
#include "detector/trace/graph_records.h"
#include "detector/trace/memory_records.h"
#include "detector/trace/process_records.h"
#include "detector/trace/program_records.h"
#include "detector/trace/record_header.h"

namespace capgate::trace {

inline constexpr char kMagic[8] = {'C', 'G', 'T', 'R', 'A', 'C', 'E', '\n'};
// 2: graphs are written when an executable is made of them (graph_contents and what follows it), with the
// calls that build and change them. 3: verifications, whose results change a verdict. 4: the launches of
// eager steps, with which graphs are compared. Older versions are read as before.
inline constexpr uint32_t kVersion = 4;
inline constexpr uint32_t kOldestVersion = 1;
inline constexpr uint32_t kChunkMagic = 0x4b484347;  // "GCHK"

enum class FileState : uint32_t { open = 1, closed = 2, gave_up = 3, detached = 4 };

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;  // offset of the first chunk
  uint32_t chunk_bytes;
  uint32_t pid;
  uint32_t ppid;
  uint32_t state;  // FileState
  uint64_t start_realtime_ns;
  uint64_t start_monotonic_ns;
  uint64_t next_chunk;  // number of chunks claimed
  uint64_t events;      // records written
  uint64_t dropped;     // records that found no room
  uint64_t seq;         // last sequence number handed out
  uint64_t limit_bytes;
  uint64_t reserved[8];
};

struct ChunkHeader {
  uint32_t magic;
  uint32_t tid;
  uint32_t index;
  uint32_t reserved;
};

}  // namespace capgate::trace
