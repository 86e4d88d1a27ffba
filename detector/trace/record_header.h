// What every record of the raw trace begins with. See detector/trace/format.h.
#pragma once

#include <stdint.h>

namespace capgate::trace {

enum class RecordType : uint16_t {
  none = 0,
  meta = 1,    // MetaRecord: a fact about the process
  string = 2,  // StringRecord: an interned string
  stack = 3,   // StackRecord: raw native return addresses
  // StringRecord layout: text as _Py_DumpTraceback writes it, without a title: `  File "x.py", line 3 in f`
  // lines, innermost first, characters that are not printable ASCII as \xHH, \uHHHH or \UHHHHHHHH; after 100
  // frames `  ...`.
  python_stack = 4,
  module = 5,        // ModuleRecord: a mapped object
  call = 6,          // CallRecord: one CUDA call
  region = 7,        // RegionRecord: NVTX or capgate.h range
  mark = 8,          // MarkRecord: bucket, allow, eager break
  stream = 9,        // ObjectRecord
  context = 10,      // ObjectRecord
  module_load = 11,  // ObjectRecord: CUDA module loaded or unloaded (resource callback)
  graph = 12,        // ObjectRecord: graph made, destroyed, cloned
  exec = 13,         // ObjectRecord: executable graph made or destroyed
  node = 14,         // NodeRecord: a node made while capturing (resource callback)
  capture = 15,      // CaptureRecord: one finished or failed capture
  graph_node = 16,   // GraphNodeRecord: one node of a finished capture, with its parameters
  graph_edge = 17,   // GraphEdgeRecord
  thread = 18,       // ThreadRecord: a thread's name
  counter = 19,      // CounterRecord: calls outside everything judged; grows in place
  end = 20,          // EndRecord: the program reached exit
  // 21 was never written
  exception = 22,  // ExceptionRecord: an exception while the thread had a capture open, or an uncaught one
  notice = 23,     // NoticeRecord: what a framework reports of its own about captures
  graph_contents = 24,  // GraphContentsRecord: its nodes, edges and links follow
  graph_link = 25,      // GraphLinkRecord: a node that holds another graph
  node_clone = 26,      // NodeCloneRecord: a node made as the copy of another
  exec_node = 27,       // GraphNodeRecord with the executable in place of the graph: new parameters of a node
  pool_block = 28,      // PoolBlockRecord: memory that a framework's own allocator hands out
  host_operand = 29,    // HostOperandRecord: whether memory that a captured copy names is still there
  verify = 30,          // VerifyRecord: what verify_replay says of itself
  eager_launch = 31,    // GraphNodeRecord with the call's sequence number in place of the graph: a launch
};

struct RecordHeader {
  uint32_t bytes;  // whole record, header included, multiple of 8; stored last
  uint16_t type;   // RecordType
  uint16_t flags;
  uint64_t seq;
};

}  // namespace capgate::trace
