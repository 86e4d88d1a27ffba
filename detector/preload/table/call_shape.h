// What the library knows about each CUDA call: its family and where its operands stand in CUPTI's parameter
// block.
#pragma once

#include <stdint.h>

#include "detector/preload/system/callback_ids.h"
#include "detector/trace/format.h"

namespace capgate::preload {

enum ShapeFlag : uint8_t {
  kAlways = 1,         // its callback is on from the start
  kWindow = 2,         // on only while a capture is open
  kPerThread = 4,      // _ptsz, _ptds: a null stream is the thread's own
  kImpliedStream = 8,  // a synchronous copy: works on the default stream without naming it
};

// Calls whose operands stand in a structure that the parameter block points to.
enum class Special : uint8_t {
  none,
  batch,
  rt_memcpy3d,
  rt_memcpy3d_peer,
  rt_memset3d,
  rt_launch_config,
  drv_memcpy2d,
  drv_memcpy3d,
  drv_memcpy3d_peer,
  drv_launch_config,
  kernel_node,
  kernel_node_v1,
  memset_node,
  host_node,
  any_node,
  instantiate_params,
  update_result,
  error_node,
  alloc_pitch,
  alloc_3d,
  out_bytes,
};

// Offsets are plus one, so that zero means "has none".
struct CallShape {
  uint8_t family;  // trace::Family
  uint8_t flags;   // ShapeFlag
  Special special;
  uint8_t copy_kind;  // cudaMemcpyKind that the name implies; 255: see arg
  uint8_t stream, object, object2, dst, src;
  uint8_t bytes, bytes_width, rows, rows_width, multiplier;
  uint8_t arg, arg_width;
  uint8_t out;          // a pointer whose target is the call's product
  uint8_t inout;        // a pointer to an int that goes in as arg and comes back as out
  uint8_t grid, block;  // three 32-bit words each
  uint8_t pack;         // of Special
  bool watched() const { return (flags & (kAlways | kWindow)) != 0; }
  trace::Family kind() const { return trace::Family(family); }
};

struct Operands {
  uint64_t stream, object, object2, dst, src, bytes, arg;
  uint32_t grid[3], block[3];
  bool has_stream;
};

// The shape of a callback id; null for an id that nobody watches. domain: 1 driver, 2 runtime.
const CallShape* call_shape(uint32_t domain, uint32_t cbid);

// Ids below this are in the table.
uint32_t call_ids(uint32_t domain);

// For an id newer than the table: the family of the known call that has the same base name
// ("cudaMemcpy_v13200"), else Family::count when the name is known to nobody.
trace::Family family_of_name(uint32_t domain, const char* name);

// Registers an id that is newer than the table; its calls are recorded without operands.
void adopt_call(uint32_t domain, uint32_t cbid, trace::Family family);

// The structure that a special shape's parameter block points to; null without one.
const void* packed_parameters(const CallShape& shape, const void* parameters);

// Reads a call's operands as they were at enter.
void read_operands(const CallShape& shape, const void* parameters, Operands& out);

// What CUDA says of a refused instantiation or update: the node that it blames, the one that this depends on,
// and its reason. Zero what it does not say.
struct GraphRefusal {
  uint64_t node, from, reason;
};
GraphRefusal read_graph_refusal(const CallShape& shape, const void* parameters);

// At exit: the bytes that the call gave, where its arguments alone do not tell; else 0.
uint64_t read_given_bytes(const CallShape& shape, const void* parameters);

// At exit: the call's product (pointer, stream, event, graph, executable graph, old capture mode).
uint64_t read_product(const CallShape& shape, const void* parameters);

}  // namespace capgate::preload
