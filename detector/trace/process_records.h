// The process in the raw trace: its facts, texts, stacks, modules, objects, threads, counters, and its end.
#pragma once

#include <stdint.h>

#include "detector/trace/record_header.h"

namespace capgate::trace {

// Keys that a MetaRecord may carry: "argv0", "cmdline" (NUL-separated), "exe", "cwd", "host", "cupti.state"
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

struct EndRecord {
  RecordHeader h;
  uint64_t t_ns;
  uint32_t how;  // 1 exit handlers ran, 2 detached on request, 3 _exit
  uint32_t reserved;
};

}  // namespace capgate::trace
