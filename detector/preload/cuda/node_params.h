// One node of a graph, with its parameters, into the trace.
#pragma once

#include <cuda.h>
#include <stdint.h>

#include "detector/trace/format.h"

namespace capgate::preload {

struct ThreadState;

// Whose node it is: a graph, an executable whose node was given new parameters, or the call of a launch that
// is in no graph, by its sequence number.
struct NodeOwner {
  trace::RecordType type;  // graph_node, exec_node or eager_launch
  uint64_t handle;
};

// Asks the driver for the node's parameters. True: they were left out.
bool write_node(ThreadState& thread, NodeOwner owner, CUgraphNode node, CUgraphNodeType kind,
                bool with_params);

// With the parameters as a call was given them, in the driver's structures.
bool write_kernel_node(ThreadState& thread, NodeOwner owner, CUgraphNode node,
                       const CUDA_KERNEL_NODE_PARAMS& params, bool with_params);
void write_copy_node(ThreadState& thread, NodeOwner owner, CUgraphNode node, const CUDA_MEMCPY3D& copy);
void write_set_node(ThreadState& thread, NodeOwner owner, CUgraphNode node,
                    const CUDA_MEMSET_NODE_PARAMS& set);
void write_host_node(ThreadState& thread, NodeOwner owner, CUgraphNode node,
                     const CUDA_HOST_NODE_PARAMS& host);

}  // namespace capgate::preload
