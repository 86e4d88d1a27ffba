#include "detector/preload/cuda/node_params.h"

#include "detector/preload/cuda/driver_api.h"
#include "detector/preload/cuda/host_place.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/strings.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"
#include "detector/trace/node_kind.h"

namespace capgate::preload {
namespace {

constexpr bool same(trace::NodeKind ours, CUgraphNodeType cuda) {
  return uint32_t(ours) == uint32_t(cuda);
}
static_assert(same(trace::kKernelNode, CU_GRAPH_NODE_TYPE_KERNEL));
static_assert(same(trace::kCopyNode, CU_GRAPH_NODE_TYPE_MEMCPY));
static_assert(same(trace::kMemsetNode, CU_GRAPH_NODE_TYPE_MEMSET));
static_assert(same(trace::kHostNode, CU_GRAPH_NODE_TYPE_HOST));
static_assert(same(trace::kChildNode, CU_GRAPH_NODE_TYPE_GRAPH));
static_assert(same(trace::kEmptyNode, CU_GRAPH_NODE_TYPE_EMPTY));
static_assert(same(trace::kEventWaitNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT));
static_assert(same(trace::kEventRecordNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD));
static_assert(same(trace::kAllocNode, CU_GRAPH_NODE_TYPE_MEM_ALLOC));
static_assert(same(trace::kFreeNode, CU_GRAPH_NODE_TYPE_MEM_FREE));
static_assert(same(trace::kConditionalNode, CU_GRAPH_NODE_TYPE_CONDITIONAL));

constexpr size_t kMaxParams = 128;
constexpr size_t kMaxParamBytes = 32 << 10;
constexpr uint64_t kMaxParamBytesOfProcess = 64 << 20;
// Of nodes, and of launches: neither takes the other's room.
std::atomic<uint64_t> g_node_bytes{0}, g_launch_bytes{0};

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

// A launch that gave its arguments as one block. Null: it did not.
const void* argument_block(const CUDA_KERNEL_NODE_PARAMS& params, size_t* bytes) {
  const void* block = nullptr;
  *bytes = 0;
  if (params.kernelParams != nullptr || params.extra == nullptr) return nullptr;
  constexpr int kMostOptions = 8;
  for (int i = 0; i < kMostOptions && params.extra[i] != CU_LAUNCH_PARAM_END; ++i) {
    if (params.extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
      block = params.extra[++i];
    else if (params.extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
      *bytes = *static_cast<const size_t*>(params.extra[++i]);
  }
  if (block == nullptr || *bytes > kMaxParamBytes) *bytes = 0;
  return *bytes != 0 ? block : nullptr;
}

bool is_device_updatable(CUgraphNode node) {
  CUlaunchAttributeValue value{};
  return g_driver.node_attribute != nullptr &&
         g_driver.node_attribute(node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value) ==
             CUDA_SUCCESS &&
         value.deviceUpdatableKernelNode.deviceUpdatable != 0;
}

// Without parameters; null when there is no room.
trace::GraphNodeRecord* reserve_node(ThreadState& thread, NodeOwner owner, CUgraphNode node,
                                     CUgraphNodeType kind, size_t bytes) {
  auto* record = static_cast<trace::GraphNodeRecord*>(reserve_record(thread, bytes));
  if (record == nullptr) return nullptr;
  record->graph = owner.handle;
  record->node = reinterpret_cast<uint64_t>(node);
  record->kind = kind;
  record->device = trace::kNoDevice;
  return record;
}

void read_side(ThreadState& thread, CUmemorytype type, const void* host, CUdeviceptr device, CUarray array,
               uint64_t& address, uint8_t& memory, uint8_t& place) {
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

}  // namespace

bool write_kernel_node(ThreadState& thread, NodeOwner owner, CUgraphNode node,
                       const CUDA_KERNEL_NODE_PARAMS& params, bool with_params) {
  std::atomic<uint64_t>& used = owner.type == trace::RecordType::eager_launch ? g_launch_bytes : g_node_bytes;
  with_params = with_params && used.load(std::memory_order_relaxed) < kMaxParamBytesOfProcess;
  Layout layout[kMaxParams];
  size_t total = 0, count = 0, block_bytes = 0;
  const void* block = with_params ? argument_block(params, &block_bytes) : nullptr;
  if (with_params && (params.kernelParams != nullptr || block != nullptr))
    count = param_layout(params, layout, &total);
  if (block != nullptr) {
    if (total > block_bytes) count = 0;
    total = block_bytes;
  }
  const uint32_t name = intern(thread, kernel_name(params));
  const size_t bytes = sizeof(trace::GraphNodeRecord) + count * sizeof(Layout) + total;
  auto* record = reserve_node(thread, owner, node, CU_GRAPH_NODE_TYPE_KERNEL, bytes);
  if (record == nullptr) return true;
  record->name = name;
  record->func = reinterpret_cast<uint64_t>(params.func != nullptr ? static_cast<void*>(params.func)
                                                                   : static_cast<void*>(params.kern));
  record->grid[0] = params.gridDimX, record->grid[1] = params.gridDimY, record->grid[2] = params.gridDimZ;
  record->block[0] = params.blockDimX, record->block[1] = params.blockDimY,
  record->block[2] = params.blockDimZ;
  record->shared_bytes = params.sharedMemBytes;
  record->context = reinterpret_cast<uint64_t>(params.ctx);
  CUmodule module = nullptr;
  if (params.func != nullptr && g_driver.func_module != nullptr &&
      g_driver.func_module(&module, params.func) == CUDA_SUCCESS)
    record->src = reinterpret_cast<uint64_t>(module);
  record->param_bytes = uint32_t(total);
  record->param_count = uint32_t(count);
  if (count != 0) record->param_layout |= trace::kParamsPlaced;
  auto* tail = reinterpret_cast<uint8_t*>(record + 1);
  memcpy(tail, layout, count * sizeof(Layout));
  tail += count * sizeof(Layout);
  if (block != nullptr) {
    memcpy(tail, block, total);
  } else {
    for (size_t i = 0; i < count; ++i)
      if (params.kernelParams[i] != nullptr)
        memcpy(tail + layout[i].offset, params.kernelParams[i], layout[i].size);
  }
  used.fetch_add(total, std::memory_order_relaxed);
  if (owner.type == trace::RecordType::graph_node && is_device_updatable(node))
    record->param_layout |= trace::kDeviceUpdatable;
  commit_record(thread, record, owner.type, bytes);
  return !with_params;
}

void write_copy_node(ThreadState& thread, NodeOwner owner, CUgraphNode node, const CUDA_MEMCPY3D& copy) {
  auto* record = reserve_node(thread, owner, node, CU_GRAPH_NODE_TYPE_MEMCPY, sizeof(trace::GraphNodeRecord));
  if (record == nullptr) return;
  read_side(thread, copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray, record->dst,
            record->dst_memory, record->dst_place);
  read_side(thread, copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray, record->src,
            record->src_memory, record->src_place);
  record->bytes = uint64_t(copy.WidthInBytes) * copy.Height * copy.Depth;
  commit_record(thread, record, owner.type, sizeof(*record));
}

void write_set_node(ThreadState& thread, NodeOwner owner, CUgraphNode node,
                    const CUDA_MEMSET_NODE_PARAMS& set) {
  auto* record = reserve_node(thread, owner, node, CU_GRAPH_NODE_TYPE_MEMSET, sizeof(trace::GraphNodeRecord));
  if (record == nullptr) return;
  record->dst = set.dst;
  record->bytes = uint64_t(set.elementSize) * set.width * set.height;
  record->dst_memory = uint8_t(memory_kind(set.dst));
  commit_record(thread, record, owner.type, sizeof(*record));
}

void write_host_node(ThreadState& thread, NodeOwner owner, CUgraphNode node,
                     const CUDA_HOST_NODE_PARAMS& host) {
  auto* record = reserve_node(thread, owner, node, CU_GRAPH_NODE_TYPE_HOST, sizeof(trace::GraphNodeRecord));
  if (record == nullptr) return;
  record->func = reinterpret_cast<uint64_t>(host.fn);
  record->src = reinterpret_cast<uint64_t>(host.userData);
  commit_record(thread, record, owner.type, sizeof(*record));
}

bool write_node(ThreadState& thread, NodeOwner owner, CUgraphNode node, CUgraphNodeType kind,
                bool with_params) {
  if (kind == CU_GRAPH_NODE_TYPE_KERNEL) {
    CUDA_KERNEL_NODE_PARAMS params{};
    const bool known =
        g_driver.kernel_params != nullptr && g_driver.kernel_params(node, &params) == CUDA_SUCCESS;
    return write_kernel_node(thread, owner, node, params, known && with_params);
  }
  if (kind == CU_GRAPH_NODE_TYPE_MEMCPY && g_driver.memcpy_params != nullptr) {
    CUDA_MEMCPY3D copy{};
    if (g_driver.memcpy_params(node, &copy) == CUDA_SUCCESS)
      return write_copy_node(thread, owner, node, copy), false;
  } else if (kind == CU_GRAPH_NODE_TYPE_MEMSET && g_driver.memset_params != nullptr) {
    CUDA_MEMSET_NODE_PARAMS set{};
    if (g_driver.memset_params(node, &set) == CUDA_SUCCESS)
      return write_set_node(thread, owner, node, set), false;
  } else if (kind == CU_GRAPH_NODE_TYPE_HOST && g_driver.host_params != nullptr) {
    CUDA_HOST_NODE_PARAMS host{};
    if (g_driver.host_params(node, &host) == CUDA_SUCCESS)
      return write_host_node(thread, owner, node, host), false;
  }
  auto* record = reserve_node(thread, owner, node, kind, sizeof(trace::GraphNodeRecord));
  if (record == nullptr) return true;
  if (kind == CU_GRAPH_NODE_TYPE_MEM_ALLOC && g_driver.alloc_params != nullptr) {
    CUDA_MEM_ALLOC_NODE_PARAMS allocation{};
    if (g_driver.alloc_params(node, &allocation) == CUDA_SUCCESS) {
      record->dst = allocation.dptr;
      record->bytes = allocation.bytesize;
    }
  } else if (kind == CU_GRAPH_NODE_TYPE_MEM_FREE && g_driver.free_params != nullptr) {
    CUdeviceptr address = 0;
    if (g_driver.free_params(node, &address) == CUDA_SUCCESS) record->dst = address;
  }
  commit_record(thread, record, owner.type, sizeof(*record));
  return false;
}

}  // namespace capgate::preload
