// The raw trace: what the preloaded library writes and everything after it reads. One file a process,
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

#include "detector/trace/graph_records.h"
#include "detector/trace/record_header.h"

namespace capgate::trace {

inline constexpr char kMagic[8] = {'C', 'G', 'T', 'R', 'A', 'C', 'E', '\n'};
// 2: graphs are written when an executable is made of them (graph_contents and what follows it), with the
// calls that build and change them. 3: verifications, whose results change a verdict. Older versions are read
// as before.
inline constexpr uint32_t kVersion = 3;
inline constexpr uint32_t kOldestVersion = 1;
inline constexpr uint32_t kChunkMagic = 0x4b484347;  // "GCHK"
inline constexpr int32_t kPending = INT32_MIN;       // CallRecord::result of a call that has not returned
inline constexpr int32_t kNoDevice = -1;

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

// flags of a MetaRecord's key: "argv0", "cmdline" (NUL-separated), "exe", "cwd", "host", "cupti.state"
// (attached | held-by:NAME | unavailable), "cupti.path", "cupti.version", "driver", "runtime", "gpu.N"
// (name|sm|uuid), "python", "python.exceptions" (why exceptions of Python cannot be read, else empty),
// "python.notices" (why a framework's notices cannot be seen, else empty), "python.lines" (why Python lines
// are missing, else empty), "python.walk" (there when reading the frames went wrong), "torch", "nvtx" (how
// ranges are seen), "gave-up", "rank", "env.NAME", "setting.NAME", "nested-tool"; "cupti.proof" (a callback
// arrived after subscribing; absent when none did), "cupti.error" (why unavailable), "driver.release" (the
// kernel module's number), "stacks" (why native stacks are missing), "subject.KEY" (capgate_subject),
// "torch.blocks" (followed | lost: WHY; absent: no block was seen), "allocator.NAME" (the library of an
// allocator that makes blocks of its own: PyTorch, CuPy, RMM, JAX, TensorFlow). A key may come twice: the
// later one holds. Strings, stacks and Python stacks may stand after the first record that names them, by
// seq: load them all first.
struct MetaRecord {
  RecordHeader h;
  uint32_t key_bytes;
  uint32_t value_bytes;
  // char key[key_bytes], value[value_bytes], padding
};

struct StringRecord {
  RecordHeader h;
  uint32_t id;  // never 0; ids of strings and of Python stacks are separate
  uint32_t bytes;
  // char text[bytes], padding
};

struct StackRecord {
  RecordHeader h;
  uint32_t id;  // never 0
  uint32_t count;
  // uint64_t ip[count], innermost first, each a return address (subtract 1 before looking it up)
};

struct ModuleRecord {
  RecordHeader h;
  uint64_t start, end;  // executable mapping
  uint64_t bias;        // load address: file address = ip - bias
  uint32_t build_id_bytes;
  uint32_t path_bytes;
  // uint8_t build_id[build_id_bytes]; char path[path_bytes]; padding
};

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
  kFrameworkIgnored = 1u << 5,
  kCapturing = 1u << 6,  // the stream given was capturing at enter
  kLegacyStream =
      1u << 7,  // goes to the legacy default stream (null stream, or implied by a synchronous call)
  kEnterMissed = 1u << 8,  // only the exit was seen
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

enum class RegionOp : uint16_t { push = 1, pop = 2, start = 3, stop = 4 };
enum class RegionSource : uint16_t { nvtx = 1, capgate_h = 2 };

struct RegionRecord {
  RecordHeader h;
  uint64_t t_ns;
  uint16_t op;      // RegionOp
  uint16_t source;  // RegionSource
  uint32_t name;    // string id
  uint32_t domain;  // string id, 0 the default domain
  uint32_t stack;   // 0: no rule asks where a range begins, and a step should not pay for it
  uint64_t range;   // start/stop pair
};

enum class MarkOp : uint16_t {
  bucket_push = 1,
  bucket_pop,
  allow_begin,
  allow_end,
  break_begin,
  break_end,
  expect_fail,
  detach
};

struct MarkRecord {
  RecordHeader h;
  uint64_t t_ns;
  uint16_t op;  // MarkOp
  uint16_t reserved;
  uint32_t a;      // string id: bucket name, rule, break name
  uint32_t b;      // string id: reason
  uint32_t stack;  // 0
};

enum class ObjectOp : uint16_t { made = 1, destroyed = 2, cloned = 3, loaded = 4, unloaded = 5 };

struct ObjectRecord {
  RecordHeader h;
  uint64_t t_ns;
  uint16_t op;  // ObjectOp
  uint16_t reserved;
  int32_t device;
  uint64_t object;
  uint64_t other;     // context of a stream; source graph of a clone or executable
  uint64_t flags;     // stream: CUstream_flags (1 non-blocking); module: bytes
  uint64_t call_seq;  // the call that it happened in, 0 none
};

struct ThreadRecord {
  RecordHeader h;
  uint32_t tid;
  uint32_t name;  // string id
};

struct CounterRecord {
  RecordHeader h;
  // String id: "call:cudaMemcpy" (calls outside everything judged), "unknown-cbid:driver:812:NAME" (a call
  // newer than the library; value 0), "thinned:FAMILY|room|node" (left out for want of room),
  // "nvtx-range:[DOMAIN@]NAME" (ranges that no
  // --region asked for), "enter-missed". The record grows in place while the program runs. Equal names add
  // up.
  uint32_t name;
  uint32_t reserved;
  uint64_t value;  // calls
  uint64_t bytes;  // their bytes where that means something
  uint64_t blocked_ns;
};

struct PointerRecord {
  RecordHeader h;
  uint64_t start, bytes;
  uint32_t memory;  // Memory
  uint32_t reserved;
};

// thrown: C++ throws on a thread that has a capture open; most of these are caught again, and the capture
// goes on. leaves: a capture is ended while the exception is on its way out of it. handled: it is ended by
// the code that handles the exception, which may have caught it inside. uncaught: the interpreter prints it
// and ends.
enum class ExceptionEvent : uint16_t { thrown = 1, leaves = 2, handled = 3, uncaught = 4 };
enum class ExceptionLanguage : uint16_t { cxx = 1, python = 2 };

struct ExceptionRecord {
  RecordHeader h;
  uint64_t t_ns;
  uint64_t begin_seq;     // of the capture's begin call; 0: the thread had none open
  uint64_t object;        // the exception; C++ that is handled: its header, which lies before the object
  uint16_t event;         // ExceptionEvent
  uint16_t language;      // ExceptionLanguage
  uint32_t uncaught;      // C++: exceptions on their way on this thread, before this throw
  uint32_t type;          // string id: mangled C++ type or Python class, 0 not known
  uint32_t text;          // string id: its message, 0 not known
  uint32_t stack;         // native, thrown only
  uint32_t python_stack;  // where it was raised
};

enum class NoticeKind : uint16_t { capture_skipped = 1, many_recordings = 2 };

struct NoticeRecord {
  RecordHeader h;
  uint64_t t_ns;
  uint16_t kind;  // NoticeKind
  uint16_t reserved;
  uint32_t text;  // string id: the framework's own words
  uint32_t python_stack;
  uint32_t reserved2;
};

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

// step: a step enters a phase, which is the record's name: load (its inputs are loaded), fill (its outputs
// are filled), launch (the eager step or the program's own launch), read (its outputs are copied).
enum class VerifyOp : uint16_t { begin = 1, step = 2, output = 3, differs = 4, end = 5 };

// What verify_replay says of itself, in order, on the thread that verifies. It is a claim: the calls between
// its records show whether it is true. The facts are `KEY=VALUE`, one space between two of them, and `why`
// reaches to the end of the text:
//   begin    name: of the verification; inputs, steps: how many
//   step     load: run (eager | replay), set, step, filling (0 or 1), refilled (1: free memory was filled)
//   output   name: of the output; address, bytes, by (copy | kernel | host: how it is copied), state (0 or
//   1);
//            or, at the end: noise (of two eager runs), varied (1: input sets changed it)
//   differs  name: of the output; set, step, filling, refilled, index, eager, replay, elements, of, largest,
//            allowed, kept (1: it is what the output was filled with), state
//   end      name: equal | differs | nothing | raised; refilled: bytes; varied: sets whose eager outputs
//            differ from the first one's, separated by commas; why
struct VerifyRecord {
  RecordHeader h;
  uint64_t t_ns;
  uint16_t op;  // VerifyOp
  uint16_t reserved;
  uint32_t name;                 // string id
  uint32_t facts;                // string id
  uint32_t stack, python_stack;  // of the begin: where the program asks for it
  uint32_t reserved2;
};

struct EndRecord {
  RecordHeader h;
  uint64_t t_ns;
  uint32_t how;  // 1 exit handlers ran, 2 detached on request, 3 _exit
  uint32_t reserved;
};

}  // namespace capgate::trace
