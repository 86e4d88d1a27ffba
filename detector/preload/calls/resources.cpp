#include "detector/preload/calls/resources.h"

#include "detector/preload/calls/api_calls.h"
#include "detector/preload/calls/call_record.h"
#include "detector/preload/cuda/cupti_api.h"
#include "detector/preload/cuda/driver_api.h"
#include "detector/preload/cuda/known_graphs.h"
#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/table/call_shape.h"
#include "detector/preload/table/families.h"
#include "detector/preload/writer/counters.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_end.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

constexpr uint32_t kSlots = 8192;
constexpr uint64_t kMaxNodes = 300000;  // of the process; graphs beyond it are known by their final nodes

struct StreamSlot {
  std::atomic<uint64_t> stream{0};
  std::atomic<int32_t> device{0};
};
StreamSlot g_streams[kSlots];
std::atomic<uint64_t> g_nodes{0};

StreamSlot& stream_slot(uint64_t stream) {
  uint32_t at = uint32_t(stream >> 4 ^ stream >> 17) % kSlots;
  for (uint32_t i = 0; i < 16; ++i, at = (at + 1) % kSlots) {
    const uint64_t held = g_streams[at].stream.load(std::memory_order_acquire);
    if (held == stream || held == 0) break;
  }
  return g_streams[at];
}

void remember_stream(uint64_t stream, int32_t device) {
  StreamSlot& slot = stream_slot(stream);
  slot.device.store(device, std::memory_order_relaxed);
  slot.stream.store(stream, std::memory_order_release);
}

void write_object(ThreadState& thread, trace::RecordType type, trace::ObjectOp op, uint64_t object,
                  uint64_t other, uint64_t flags, int32_t device, uint64_t call_seq = 0) {
  auto* record = reserve<trace::ObjectRecord>(thread);
  if (record == nullptr) return;
  record->t_ns = monotonic_ns();
  record->op = uint16_t(op);
  record->device = device;
  record->object = object;
  record->other = other;
  record->flags = flags;
  record->call_seq = call_seq != 0 ? call_seq : call_in_flight(thread);
  commit_record(thread, record, type, sizeof(*record));
}

uint64_t number(const void* p) {
  return reinterpret_cast<uint64_t>(p);
}

void note_module(ThreadState& thread, trace::ObjectOp op, const CUpti_ResourceData& data) {
  uint64_t id = 0, bytes = 0;
  if (const auto* module = static_cast<const CUpti_ModuleResourceData*>(data.resourceDescriptor)) {
    id = module->moduleId;
    bytes = module->cubinSize;
  }
  const uint64_t context = number(data.context);
  const uint64_t load = op == trace::ObjectOp::loaded ? write_lazy_load(thread, context) : 0;
  write_object(thread, trace::RecordType::module_load, op, id, context, bytes, context_device(context), load);
}

bool has_room_for_node(ThreadState& thread) {
  if (g_nodes.fetch_add(1, std::memory_order_relaxed) >= kMaxNodes || trace_is_filling()) {
    count(thread, "thinned:node");
    return false;
  }
  return true;
}

// Inside a call that makes an executable: its nodes are those of the graph that it is made of.
bool makes_executable(const ThreadState& thread) {
  if (thread.depth == 0) return false;
  const auto family = thread.frames[0].shape->kind();
  return family == Family::graph_instantiate || family == Family::graph_exec_update ||
         family == Family::graph_exec_set;
}

void note_node(ThreadState& thread, const CUpti_GraphData& graph) {
  if (makes_executable(thread)) return;
  graph_changed(number(graph.graph));
  // A clone's nodes come from the nodes that it was cloned of.
  if (thread.depth > 0 && thread.frames[0].shape->kind() == Family::graph_create) return;
  if (!has_room_for_node(thread)) return;
  auto* record = reserve<trace::NodeRecord>(thread);
  if (record == nullptr) return;
  record->graph = number(graph.graph);
  record->node = number(graph.node);
  record->call_seq = call_in_flight(thread);
  record->kind = uint32_t(graph.nodeType);
  commit_record(thread, record, trace::RecordType::node, sizeof(*record));
}

void note_clone(ThreadState& thread, const CUpti_GraphData& graph) {
  if (makes_executable(thread)) return;
  graph_changed(number(graph.graph));
  if (graph.originalNode == nullptr || !has_room_for_node(thread)) return;
  auto* record = reserve<trace::NodeCloneRecord>(thread);
  if (record == nullptr) return;
  record->graph = number(graph.graph);
  record->node = number(graph.node);
  record->original = number(graph.originalNode);
  record->call_seq = call_in_flight(thread);
  commit_record(thread, record, trace::RecordType::node_clone, sizeof(*record));
}

void note_graph(ThreadState& thread, uint32_t cbid, const CUpti_GraphData& graph) {
  using trace::ObjectOp;
  using trace::RecordType;
  switch (cbid) {
    case CUPTI_CBID_RESOURCE_GRAPH_CREATED:
      write_object(thread, RecordType::graph, ObjectOp::made, number(graph.graph), 0, 0, trace::kNoDevice);
      break;
    case CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING:
      graph_gone(number(graph.graph));
      write_object(thread, RecordType::graph, ObjectOp::destroyed, number(graph.graph), 0, 0,
                   trace::kNoDevice);
      break;
    case CUPTI_CBID_RESOURCE_GRAPH_CLONED:
      write_object(thread, RecordType::graph, ObjectOp::cloned, number(graph.graph),
                   number(graph.originalGraph), 0, trace::kNoDevice);
      break;
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED:
      write_object(thread, RecordType::exec, ObjectOp::made, number(graph.graphExec), number(graph.graph), 0,
                   trace::kNoDevice);
      break;
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING:
      write_object(thread, RecordType::exec, ObjectOp::destroyed, number(graph.graphExec), 0, 0,
                   trace::kNoDevice);
      break;
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
      note_node(thread, graph);
      break;
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED:
      note_clone(thread, graph);
      break;
    default:
      break;
  }
}

}  // namespace

void enable_resources() {
  for (const uint32_t cbid :
       {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
        CUPTI_CBID_RESOURCE_STREAM_CREATED, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING,
        CUPTI_CBID_RESOURCE_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
        CUPTI_CBID_RESOURCE_GRAPH_CREATED, CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING,
        CUPTI_CBID_RESOURCE_GRAPH_CLONED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
        CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED,
        CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING})
    g_cupti.enable(1, subscriber(), CUPTI_CB_DOMAIN_RESOURCE, cbid);
  g_cupti.enable(1, subscriber(), CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR);
}

void note_resource(ThreadState& thread, uint32_t cbid, const CUpti_ResourceData& data) {
  using trace::ObjectOp;
  using trace::RecordType;
  const uint64_t context = number(data.context);
  switch (cbid) {
    case CUPTI_CBID_RESOURCE_CONTEXT_CREATED:
      write_object(thread, RecordType::context, ObjectOp::made, context, 0, 0, trace::kNoDevice);
      break;
    case CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
      write_object(thread, RecordType::context, ObjectOp::destroyed, context, 0, 0, trace::kNoDevice);
      forget_context(context);
      break;
    case CUPTI_CBID_RESOURCE_STREAM_CREATED: {
      const uint64_t stream = number(data.resourceHandle.stream);
      const int32_t device = context_device(context);
      remember_stream(stream, device);
      // The flags are the making call's.
      const bool by_call = thread.depth > 0 && thread.frames[0].shape->kind() == Family::stream_create;
      write_object(thread, RecordType::stream, ObjectOp::made, stream, context,
                   by_call ? thread.frames[0].arg : 0, device);
      break;
    }
    case CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING:
      write_object(thread, RecordType::stream, ObjectOp::destroyed, number(data.resourceHandle.stream),
                   context, 0, trace::kNoDevice);
      break;
    case CUPTI_CBID_RESOURCE_MODULE_LOADED:
      note_module(thread, ObjectOp::loaded, data);
      break;
    case CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING:
      note_module(thread, ObjectOp::unloaded, data);
      break;
    default:
      if (const auto* graph = static_cast<const CUpti_GraphData*>(data.resourceDescriptor))
        note_graph(thread, cbid, *graph);
      break;
  }
}

void note_cupti_state(ThreadState& thread, uint32_t cbid, const void* data) {
  if (cbid != CUPTI_CBID_STATE_FATAL_ERROR) return;
  const auto* state = static_cast<const CUpti_StateData*>(data);
  const char* message = state->notification.message != nullptr ? state->notification.message : "no message";
  give_up(thread, "CUPTI stopped with a fatal error", message);
}

int32_t stream_device(uint64_t stream, int32_t current) {
  if (stream <= 2) return current;
  const StreamSlot& slot = stream_slot(stream);
  if (slot.stream.load(std::memory_order_acquire) != stream) return trace::kNoDevice;
  return slot.device.load(std::memory_order_relaxed);
}

namespace {
void forget_in_child() {
  for (StreamSlot& slot : g_streams) slot.stream.store(0, std::memory_order_relaxed);
  g_nodes.store(0);
}
}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

}  // namespace capgate::preload
