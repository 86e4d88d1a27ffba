// Memory in the raw trace that no call of CUDA hands out or takes back.
#pragma once

#include <stdint.h>

#include "detector/trace/record_header.h"

namespace capgate::trace {

// Who handed a block out.
enum class Allocator : uint16_t { torch = 1, host = 2 };
enum class BlockOp : uint16_t { born = 1, died = 2 };

// A block inside memory that CUDA gave to a framework's allocator. Written for blocks that live while a
// capture is open, as late as that; from then on for whatever dies or is born at their first byte. host: the
// data of a host function in a graph, one byte, known from the call that named it; only with --watch-host.
struct PoolBlockRecord {
  RecordHeader h;
  uint64_t start, bytes;
  uint64_t born_seq;  // of its birth, which may lie long before this record
  int32_t device;
  uint16_t op;         // BlockOp
  uint16_t allocator;  // Allocator
  uint32_t stack;      // of the birth or death; 0: not taken
  uint32_t python_stack;
  uint32_t own_capture;  // 1: this thread had a capture open when the record was written
  uint32_t reserved;
};

enum class OperandState : uint16_t { watched = 1, gone = 2 };

// Pageable memory that a captured copy names. watched: what it is could be told (the frame that owns it, its
// mapping), and every launch from then on is preceded by a look at it. gone: one found it gone, and no launch
// is looked at any more.
struct HostOperandRecord {
  RecordHeader h;
  uint64_t copy_seq;    // CallRecord of the copy
  uint64_t launch_seq;  // gone: CallRecord of the launch
  uint16_t state;       // OperandState
  uint16_t is_source;   // 1: CallRecord::src, 0: dst
  uint32_t reserved;
};

}  // namespace capgate::trace
