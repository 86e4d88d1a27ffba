// Graphs in the raw trace: what captures made, what executables are made of, and what changes them.
#pragma once

#include <stdint.h>

#include "detector/trace/record_header.h"

namespace capgate::trace {

struct NodeRecord {
  RecordHeader h;
  uint64_t graph, node;
  uint64_t call_seq;
  uint32_t kind;  // CUgraphNodeType
  uint32_t reserved;
};

struct CaptureRecord {  // written at the end of a capture, before its nodes
  RecordHeader h;
  uint64_t begin_seq, end_seq;  // of the begin and end calls
  uint64_t capture_id;
  uint64_t stream;
  uint64_t graph;         // 0 when it failed
  uint64_t nodes, edges;  // real counts, even when the records below were cut
  uint32_t truncated;     // parameters left out for want of room or because another capture was open
  int32_t result;
};

// Bits of GraphNodeRecord::param_layout.
enum ParamLayout : uint32_t {
  kParamsPlaced = 1,     // param_count × {uint32 offset, uint32 size} stand before the bytes
  kDeviceUpdatable = 2,  // the device may change the node: what a launch runs is not known
};

struct GraphNodeRecord {
  RecordHeader h;
  uint64_t graph, node;
  uint32_t kind;  // CUgraphNodeType
  uint32_t name;  // string id: kernel name
  uint64_t func;  // kernel: handle of its function
  uint32_t grid[3], block[3], shared_bytes, param_bytes;
  uint64_t dst, src, bytes;  // copies, memsets; src of a kernel: the module of its function, 0 not known
  uint64_t context;
  int32_t device;
  uint8_t dst_memory, src_memory, dst_place, src_place;
  uint32_t param_count;
  uint32_t param_layout;  // ParamLayout; bytes without places come from a launch that gave them as one block
  // layout, uint8_t params[param_bytes], padding
};

struct GraphEdgeRecord {
  RecordHeader h;
  uint64_t graph, from, to;
};

// What a graph holds when an executable is made of it or updated from it. Its GraphNodeRecords, edges and
// links follow with the same graph; those of a CaptureRecord do too. The last ones before the call hold where
// the call wrote none: nothing had changed.
struct GraphContentsRecord {
  RecordHeader h;
  uint64_t graph;
  uint64_t call_seq;
  uint64_t nodes, edges;  // real counts
  uint32_t truncated;     // nodes left out, or written without parameters
  uint32_t reserved;
};

struct GraphLinkRecord {
  RecordHeader h;
  uint64_t graph, node;
  uint64_t child;  // the graph that the node runs
  uint32_t kind;   // CUgraphNodeType: a child graph or a conditional node
  uint32_t index;  // of a conditional node's bodies
};

struct NodeCloneRecord {
  RecordHeader h;
  uint64_t graph, node, original;
  uint64_t call_seq;
};

}  // namespace capgate::trace
