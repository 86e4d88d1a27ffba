// Calls of CUDA in the raw trace.
#pragma once

#include <stdint.h>

#include "detector/trace/record_header.h"

namespace capgate::trace {

inline constexpr int32_t kPending = INT32_MIN;  // CallRecord::result of a call that has not returned
inline constexpr int32_t kNoDevice = -1;

// What a call is, whatever its spelling (_v2, _ptsz, runtime or driver).
// One per row of detector/trace/families.def, which says what calls it holds.
enum class Family : uint16_t {
#define CAPGATE_FAMILY(name, watched, traits, calls) name,
#include "detector/trace/families.def"
#undef CAPGATE_FAMILY
  count
};

enum CallFlag : uint32_t {
  kNested = 1u << 0,  // made inside another watched call of the same thread (a driver call of a runtime call)
  kPerThreadStream = 1u << 1,  // _ptsz / _ptds: a null stream means the thread's own
  kInCallback = 1u << 2,       // made in a host function or stream callback
  kHasStreamArg = 1u << 3,
  kStackTruncated = 1u << 4,
  kCapturing = 1u << 6,  // the stream given was capturing at enter
  kLegacyStream =
      1u << 7,  // goes to the legacy default stream (null stream, or implied by a synchronous call)
  kSampledStep =
      1u << 9,  // of a graph's launch: the kernel launches up to the thread's next one are recorded
};

// cuPointerGetAttribute's answer, as far as the rules need it.
enum class Memory : uint8_t {
  unknown = 0,
  pageable = 1,
  pinned = 2,
  device = 3,
  managed = 4,
  array = 5,
  registered = 6
};

// Where a host address lies; tells a stack array from the heap.
enum class HostPlace : uint8_t { unknown = 0, stack = 1, heap = 2, module_data = 3, mapping = 4 };

struct CallRecord {
  RecordHeader h;       // seq: at enter
  uint64_t seq_end;     // at exit; 0 while pending
  uint64_t t_begin_ns;  // CLOCK_MONOTONIC
  uint64_t t_end_ns;    // 0 while pending; equal to t_begin_ns for launches, event records and waits, polls:
                        // not timed
  uint32_t domain;      // CUPTI_CB_DOMAIN_DRIVER_API 1, RUNTIME_API 2
  uint32_t cbid;
  uint32_t name;           // string id: the API's name as CUPTI spells it
  uint32_t flags;          // CallFlag
  uint16_t family;         // Family
  uint8_t thread_mode;     // the thread's interaction mode: 0 global, 1 thread-local, 2 relaxed
  uint8_t capture_status;  // of the stream given, at enter: CUstreamCaptureStatus; 255 not asked
  int32_t result;          // cudaError_t / CUresult; kPending
  uint32_t stack;          // id, 0 none taken
  uint32_t python_stack;
  int32_t device;  // the current context's device
  uint32_t label;  // string id: kernel or symbol name
  uint64_t context;
  uint64_t stream;      // handle as given
  uint64_t capture_id;  // CUDA's id of the sequence that stream captures to, 0 none
  uint64_t object;      // event, graph, executable graph, module, function, by family
  uint64_t object2;     // second one: source graph, node
  // Copies, memsets (dst), frees (dst), maps. Of a refused instantiation or update: the node that CUDA
  // blames, the node that it depends on, and CUDA's reason (cudaGraphInstantiateResult,
  // cudaGraphExecUpdateResult).
  uint64_t dst, src;
  uint64_t bytes;
  uint64_t arg;  // copy kind, capture mode, allocation/wait/record/instantiate flags, new thread mode
  uint64_t out;  // filled at exit: pointer, stream, event, graph, executable graph; old mode
  uint8_t dst_memory, src_memory;  // Memory
  uint8_t dst_place, src_place;    // HostPlace
  int32_t stream_device;           // device of the stream given, kNoDevice unknown
  uint32_t grid[3];                // launches
  uint32_t block[3];
  uint32_t outer_name;  // of a nested call: string id of the outermost watched call
  uint32_t reserved;
};

}  // namespace capgate::trace
