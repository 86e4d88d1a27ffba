#include "detector/preload/calls/graph_calls.h"

#include <cuda.h>

#include "detector/preload/cuda/graph_dump.h"
#include "detector/preload/cuda/known_graphs.h"
#include "detector/preload/cuda/node_params.h"
#include "detector/preload/memory/host_watch.h"
#include "detector/preload/system/at_fork.h"
#include "detector/preload/table/call_shape.h"
#include "detector/preload/table/families.h"
#include "detector/preload/writer/counters.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

constexpr uint32_t kMaxExecNodes = 100000;
std::atomic<uint32_t> g_exec_nodes{0};

// The runtime's structure has the same layout.
void remember_bodies(const CallShape& shape, const void* parameters, uint64_t node) {
  if (shape.special != Special::any_node) return;
  const auto* params = static_cast<const CUgraphNodeParams*>(packed_parameters(shape, parameters));
  if (params == nullptr || params->type != CU_GRAPH_NODE_TYPE_CONDITIONAL ||
      params->conditional.phGraph_out == nullptr)
    return;
  constexpr uint32_t kMostBodies = 64;
  for (uint32_t i = 0; i < params->conditional.size && i < kMostBodies; ++i)
    remember_body(node, i, reinterpret_cast<uint64_t>(params->conditional.phGraph_out[i]));
}

// Of a call that gives a node a host function; else 0.
uint64_t callback_data(const CallShape& shape, const void* parameters) {
  const void* packed = packed_parameters(shape, parameters);
  if (packed == nullptr) return 0;
  if (shape.special == Special::host_node)
    return reinterpret_cast<uint64_t>(static_cast<const CUDA_HOST_NODE_PARAMS*>(packed)->userData);
  if (shape.special != Special::any_node) return 0;
  const auto& any = *static_cast<const CUgraphNodeParams*>(packed);
  return any.type == CU_GRAPH_NODE_TYPE_HOST ? reinterpret_cast<uint64_t>(any.host.userData) : 0;
}

// Only the driver's structures: the runtime passes its own on in them.
void write_exec_node(ThreadState& thread, const CallShape& shape, const void* parameters) {
  if (g_exec_nodes.fetch_add(1, std::memory_order_relaxed) >= kMaxExecNodes || trace_is_filling()) {
    count(thread, "thinned:graph-edits");
    return;
  }
  const void* packed = packed_parameters(shape, parameters);
  if (packed == nullptr) return;
  Operands operands;
  read_operands(shape, parameters, operands);
  const NodeOwner owner{trace::RecordType::exec_node, operands.object};
  auto node = reinterpret_cast<CUgraphNode>(operands.object2);
  switch (shape.special) {
    case Special::kernel_node:
      write_kernel_node(thread, owner, node, *static_cast<const CUDA_KERNEL_NODE_PARAMS*>(packed), true);
      break;
    case Special::drv_memcpy3d:
      write_copy_node(thread, owner, node, *static_cast<const CUDA_MEMCPY3D*>(packed));
      break;
    case Special::memset_node:
      write_set_node(thread, owner, node, *static_cast<const CUDA_MEMSET_NODE_PARAMS*>(packed));
      break;
    case Special::host_node:
      write_host_node(thread, owner, node, *static_cast<const CUDA_HOST_NODE_PARAMS*>(packed));
      break;
    case Special::any_node: {
      const auto& any = *static_cast<const CUgraphNodeParams*>(packed);
      if (any.type == CU_GRAPH_NODE_TYPE_KERNEL) {
        CUDA_KERNEL_NODE_PARAMS kernel;
        static_assert(sizeof(kernel) == sizeof(any.kernel));
        memcpy(&kernel, &any.kernel, sizeof(kernel));
        write_kernel_node(thread, owner, node, kernel, true);
      } else if (any.type == CU_GRAPH_NODE_TYPE_MEMCPY) {
        write_copy_node(thread, owner, node, any.memcpy.copyParams);
      } else if (any.type == CU_GRAPH_NODE_TYPE_MEMSET) {
        const auto& set = any.memset;
        write_set_node(thread, owner, node,
                       {set.dst, set.pitch, set.value, set.elementSize, set.width, set.height});
      } else if (any.type == CU_GRAPH_NODE_TYPE_HOST) {
        write_host_node(thread, owner, node, {any.host.fn, any.host.userData});
      }
      break;
    }
    default:
      break;
  }
}

}  // namespace

void follow_graph_call(ThreadState& thread, const Frame& frame, const CUpti_CallbackData& call,
                       int32_t result) {
  const auto family = frame.shape->kind();
  Operands operands;
  switch (family) {
    case Family::graph_instantiate:
    case Family::graph_exec_update:
      // A refused one too: the report names the node that CUDA would not take.
      if (frame.record != nullptr && trace_live()) write_graph(thread, frame.record->object2, frame.seq);
      break;
    case Family::graph_exec_set:
      // A child graph's nodes get the parameters of another graph's.
      if (result == 0 && frame.record != nullptr && trace_live())
        write_graph(thread, frame.record->src, frame.seq);
      break;
    case Family::graph_node_add:
      if (result == 0)
        remember_bodies(*frame.shape, call.functionParams, read_product(*frame.shape, call.functionParams));
      break;
    case Family::graph_node_set:
      if (result != 0) break;
      read_operands(*frame.shape, call.functionParams, operands);
      if (operands.object != 0)
        graph_changed(operands.object);
      else
        some_graph_changed();
      break;
    default:
      break;
  }
}

void write_graph_refusal(trace::CallRecord& record, const CallShape& shape, const void* parameters) {
  const auto family = shape.kind();
  if (family != Family::graph_instantiate && family != Family::graph_exec_update) return;
  const GraphRefusal refusal = read_graph_refusal(shape, parameters);
  if (refusal.node != 0) record.dst = refusal.node;
  if (refusal.from != 0) record.src = refusal.from;
  if (refusal.reason != 0) record.bytes = refusal.reason;
}

void note_graph_details(ThreadState& thread, const Frame& frame, const CUpti_CallbackData& call,
                        int32_t result) {
  const auto family = frame.shape->kind();
  if (frame.domain != CUPTI_CB_DOMAIN_DRIVER_API || call.functionParams == nullptr || !trace_live()) return;
  if (result == 0 && (family == Family::graph_node_add || family == Family::graph_node_set ||
                      family == Family::graph_exec_set))
    watch_callback_data(thread, callback_data(*frame.shape, call.functionParams), thread.frames[0].seq);
  if (family == Family::graph_exec_set) {
    // The kernel's older structure lacks the last two members.
    if (result == 0 && frame.shape->special != Special::kernel_node_v1)
      write_exec_node(thread, *frame.shape, call.functionParams);
    return;
  }
  if (family != Family::graph_instantiate && family != Family::graph_exec_update) return;
  trace::CallRecord* outer = thread.frames[0].record;
  if (outer == nullptr || thread.frames[0].shape->kind() != family) return;
  if (result != 0) {
    write_graph_refusal(*outer, *frame.shape, call.functionParams);
  } else if (outer->object2 == 0) {
    // A runtime call of an older toolkit, whose parameters no header describes any more.
    Operands operands;
    read_operands(*frame.shape, call.functionParams, operands);
    outer->object2 = operands.object2;
    outer->out = read_product(*frame.shape, call.functionParams);
  }
}

namespace {
void forget_in_child() {
  g_exec_nodes.store(0);
}
}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

}  // namespace capgate::preload
