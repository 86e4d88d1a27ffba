#include "detector/preload/cuda/graph_dump.h"

#include "detector/preload/cuda/driver_api.h"
#include "detector/preload/cuda/host_place.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/strings.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

// Beyond these a graph is cut: its record keeps the real numbers and says how many nodes came without
// parameters.
constexpr size_t kMaxNodes = 20000;
constexpr size_t kMaxEdges = 60000;
constexpr size_t kMaxParams = 128;
constexpr size_t kMaxParamBytes = 32 << 10;
constexpr uint64_t kMaxParamBytesOfProcess = 64 << 20;
std::atomic<uint64_t> g_param_bytes{0};

// Memory for one dump.
template <class T>
class Buffer {
 public:
  explicit Buffer(size_t count)
      // NOLINTNEXTLINE(bugprone-sizeof-expression): a node is a pointer, and pointers are what is kept
      : bytes_(count * sizeof(T)), data_(bytes_ != 0 ? static_cast<T*>(map_memory(bytes_)) : nullptr) {}
  ~Buffer() {
    if (data_ != nullptr) munmap(static_cast<void*>(data_), bytes_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* data() { return data_; }

 private:
  size_t bytes_;
  T* data_;
};

struct Layout {
  uint32_t offset, size;
};

// Offsets and sizes of a kernel's parameters; 0 when they cannot be had. total: bytes of the parameter block.
size_t param_layout(const CUDA_KERNEL_NODE_PARAMS& params, Layout* layout, size_t* total) {
  size_t count = 0;
  *total = 0;
  while (count < kMaxParams) {
    size_t offset = 0, size = 0;
    CUresult result = CUDA_ERROR_NOT_FOUND;
    if (params.func != nullptr && g_driver.func_param_info != nullptr) {
      result = g_driver.func_param_info(params.func, count, &offset, &size);
    } else if (params.kern != nullptr && g_driver.kernel_param_info != nullptr) {
      result = g_driver.kernel_param_info(params.kern, count, &offset, &size);
    }
    if (result != CUDA_SUCCESS || offset + size > kMaxParamBytes) break;
    layout[count++] = {uint32_t(offset), uint32_t(size)};
    if (offset + size > *total) *total = offset + size;
  }
  return count;
}

const char* kernel_name(const CUDA_KERNEL_NODE_PARAMS& params) {
  const char* name = nullptr;
  if (params.func != nullptr && g_driver.func_name != nullptr) g_driver.func_name(&name, params.func);
  if (name == nullptr && params.kern != nullptr && g_driver.kernel_name != nullptr)
    g_driver.kernel_name(&name, params.kern);
  return name;
}

void write_node(ThreadState& thread, trace::GraphNodeRecord* record, size_t bytes) {
  (void)thread;
  commit_record(thread, record, trace::RecordType::graph_node, bytes);
}

// True: its parameters were left out.
bool write_kernel_node(ThreadState& thread, uint64_t graph, CUgraphNode node, bool with_params) {
  CUDA_KERNEL_NODE_PARAMS params{};
  const bool known =
      g_driver.kernel_params != nullptr && g_driver.kernel_params(node, &params) == CUDA_SUCCESS;
  Layout layout[kMaxParams];
  size_t total = 0, count = 0;
  if (known && with_params && params.kernelParams != nullptr) count = param_layout(params, layout, &total);
  const uint32_t name = known ? intern(thread, kernel_name(params)) : 0;
  const size_t bytes = sizeof(trace::GraphNodeRecord) + count * sizeof(Layout) + total;
  auto* record = static_cast<trace::GraphNodeRecord*>(reserve_record(thread, bytes));
  if (record == nullptr) return true;
  record->graph = graph;
  record->node = reinterpret_cast<uint64_t>(node);
  record->kind = CU_GRAPH_NODE_TYPE_KERNEL;
  record->name = name;
  record->func = reinterpret_cast<uint64_t>(params.func != nullptr ? static_cast<void*>(params.func)
                                                                   : static_cast<void*>(params.kern));
  record->grid[0] = params.gridDimX, record->grid[1] = params.gridDimY, record->grid[2] = params.gridDimZ;
  record->block[0] = params.blockDimX, record->block[1] = params.blockDimY,
  record->block[2] = params.blockDimZ;
  record->shared_bytes = params.sharedMemBytes;
  record->context = reinterpret_cast<uint64_t>(params.ctx);
  record->device = trace::kNoDevice;
  record->param_bytes = uint32_t(total);
  record->param_count = uint32_t(count);
  record->param_layout = count != 0 ? 1 : 0;
  auto* tail = reinterpret_cast<uint8_t*>(record + 1);
  memcpy(tail, layout, count * sizeof(Layout));
  tail += count * sizeof(Layout);
  for (size_t i = 0; i < count; ++i)
    if (params.kernelParams[i] != nullptr)
      memcpy(tail + layout[i].offset, params.kernelParams[i], layout[i].size);
  g_param_bytes.fetch_add(total, std::memory_order_relaxed);
  write_node(thread, record, bytes);
  return !known || !with_params;
}

void read_side(CUmemorytype type, const void* host, CUdeviceptr device, CUarray array, uint64_t& address,
               uint8_t& memory, uint8_t& place, ThreadState& thread) {
  switch (type) {
    case CU_MEMORYTYPE_HOST:
      address = reinterpret_cast<uint64_t>(host);
      break;
    case CU_MEMORYTYPE_ARRAY:
      address = reinterpret_cast<uint64_t>(array);
      break;
    default:
      address = uint64_t(device);
      break;
  }
  const trace::Memory kind = type == CU_MEMORYTYPE_ARRAY ? trace::Memory::array : memory_kind(address);
  memory = uint8_t(kind);
  if (kind == trace::Memory::pageable) place = uint8_t(host_place(thread, address));
}

void write_other_node(ThreadState& thread, uint64_t graph, CUgraphNode node, CUgraphNodeType kind) {
  auto* record = reserve<trace::GraphNodeRecord>(thread);
  if (record == nullptr) return;
  record->graph = graph;
  record->node = reinterpret_cast<uint64_t>(node);
  record->kind = kind;
  record->device = trace::kNoDevice;
  if (kind == CU_GRAPH_NODE_TYPE_MEMCPY && g_driver.memcpy_params != nullptr) {
    CUDA_MEMCPY3D copy{};
    if (g_driver.memcpy_params(node, &copy) == CUDA_SUCCESS) {
      read_side(copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray, record->dst,
                record->dst_memory, record->dst_place, thread);
      read_side(copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray, record->src,
                record->src_memory, record->src_place, thread);
      record->bytes = uint64_t(copy.WidthInBytes) * copy.Height * copy.Depth;
    }
  } else if (kind == CU_GRAPH_NODE_TYPE_MEMSET && g_driver.memset_params != nullptr) {
    CUDA_MEMSET_NODE_PARAMS set{};
    if (g_driver.memset_params(node, &set) == CUDA_SUCCESS) {
      record->dst = set.dst;
      record->bytes = uint64_t(set.elementSize) * set.width * set.height;
      record->dst_memory = uint8_t(memory_kind(set.dst));
    }
  } else if (kind == CU_GRAPH_NODE_TYPE_HOST && g_driver.host_params != nullptr) {
    CUDA_HOST_NODE_PARAMS host{};
    if (g_driver.host_params(node, &host) == CUDA_SUCCESS) {
      record->func = reinterpret_cast<uint64_t>(host.fn);
      record->src = reinterpret_cast<uint64_t>(host.userData);
    }
  } else if (kind == CU_GRAPH_NODE_TYPE_MEM_ALLOC && g_driver.alloc_params != nullptr) {
    CUDA_MEM_ALLOC_NODE_PARAMS allocation{};
    if (g_driver.alloc_params(node, &allocation) == CUDA_SUCCESS) {
      record->dst = allocation.dptr;
      record->bytes = allocation.bytesize;
    }
  } else if (kind == CU_GRAPH_NODE_TYPE_MEM_FREE && g_driver.free_params != nullptr) {
    CUdeviceptr address = 0;
    if (g_driver.free_params(node, &address) == CUDA_SUCCESS) record->dst = address;
  }
  write_node(thread, record, sizeof(*record));
}

uint32_t write_nodes(ThreadState& thread, CUgraph graph, size_t count, bool with_params) {
  Buffer<CUgraphNode> nodes(count);
  size_t got = count;
  if (nodes.data() == nullptr || g_driver.graph_nodes(graph, nodes.data(), &got) != CUDA_SUCCESS)
    return uint32_t(count);
  uint32_t cut = 0;
  for (size_t i = 0; i < got; ++i) {
    if (i >= kMaxNodes || trace_is_filling()) return cut + uint32_t(got - i);
    CUgraphNodeType kind = CU_GRAPH_NODE_TYPE_EMPTY;
    if (g_driver.node_type == nullptr || g_driver.node_type(nodes.data()[i], &kind) != CUDA_SUCCESS) continue;
    if (kind == CU_GRAPH_NODE_TYPE_KERNEL) {
      const bool room = g_param_bytes.load(std::memory_order_relaxed) < kMaxParamBytesOfProcess;
      if (write_kernel_node(thread, reinterpret_cast<uint64_t>(graph), nodes.data()[i], with_params && room))
        ++cut;
    } else {
      write_other_node(thread, reinterpret_cast<uint64_t>(graph), nodes.data()[i], kind);
    }
  }
  return cut;
}

bool get_edges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  if (g_driver.graph_edges_with_data != nullptr) {
    // Edges of programmatic launches carry data, without a place for which the query is refused as lossy.
    Buffer<CUgraphEdgeData> data(from != nullptr ? *count : 0);
    if (from != nullptr && data.data() == nullptr) return false;
    return g_driver.graph_edges_with_data(graph, from, to, data.data(), count) == CUDA_SUCCESS;
  }
  return g_driver.graph_edges != nullptr && g_driver.graph_edges(graph, from, to, count) == CUDA_SUCCESS;
}

void write_edges(ThreadState& thread, CUgraph graph, size_t count) {
  if (count == 0 || count > kMaxEdges) return;
  Buffer<CUgraphNode> from(count), to(count);
  if (from.data() == nullptr || to.data() == nullptr || !get_edges(graph, from.data(), to.data(), &count))
    return;
  for (size_t i = 0; i < count; ++i) {
    auto* record = reserve<trace::GraphEdgeRecord>(thread);
    if (record == nullptr) return;
    record->graph = reinterpret_cast<uint64_t>(graph);
    record->from = reinterpret_cast<uint64_t>(from.data()[i]);
    record->to = reinterpret_cast<uint64_t>(to.data()[i]);
    commit_record(thread, record, trace::RecordType::graph_edge, sizeof(*record));
  }
}

}  // namespace

void write_capture(ThreadState& thread, const OpenCapture& capture, uint64_t end_seq, uint64_t graph,
                   int32_t result) {
  auto handle = reinterpret_cast<CUgraph>(graph);
  size_t nodes = 0, edges = 0;
  if (graph != 0 && g_driver.graph_nodes != nullptr) {
    g_driver.graph_nodes(handle, nullptr, &nodes);
    get_edges(handle, nullptr, nullptr, &edges);
  }
  auto* record = reserve<trace::CaptureRecord>(thread);
  if (record == nullptr) return;
  record->begin_seq = capture.begin_seq;
  record->end_seq = end_seq;
  record->capture_id = capture.id;
  record->stream = capture.stream;
  record->graph = graph;
  record->nodes = nodes;
  record->edges = edges;
  record->result = result;
  commit_record(thread, record, trace::RecordType::capture, sizeof(*record));
  if (nodes == 0) return;
  // Asking for parameters may load a kernel. Relaxed mode keeps that legal here; while another capture is
  // open in global mode the parameters are left out instead.
  const bool with_params = !global_capture_open();
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  const bool pushed = g_driver.exchange_mode != nullptr && g_driver.exchange_mode(&mode) == CUDA_SUCCESS;
  record->truncated = write_nodes(thread, handle, nodes, with_params && pushed);
  write_edges(thread, handle, edges);
  if (pushed) g_driver.exchange_mode(&mode);
}

}  // namespace capgate::preload
