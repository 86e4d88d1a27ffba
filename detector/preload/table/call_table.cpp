#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti.h>  // the parameter blocks
#include <stddef.h>
#include <string.h>

#include "base/cuda_names.h"
#include "detector/preload/table/call_shape.h"
#include "detector/trace/families.h"

namespace capgate::preload {
namespace {

struct CallEntry {
  uint16_t cbid;
  CallShape shape;
};

struct NameEntry {
  const char* base;
  trace::Family family;
};

#define CAPGATE_AT(type, field) uint8_t(offsetof(type, field) + 1)
#include "capgate_calls.inc"
#undef CAPGATE_AT

CallShape g_shapes[2][kMaxIds];

template <size_t N>
void fill(CallShape* shapes, const CallEntry (&entries)[N]) {
  for (const CallEntry& entry : entries) shapes[entry.cbid] = entry.shape;
}

// Runs when the library is loaded: touches its own memory and nothing else.
__attribute__((constructor)) void fill_shapes() {
  fill(g_shapes[0], kDriverCalls);
  fill(g_shapes[1], kRuntimeCalls);
}

template <size_t N>
trace::Family find(const NameEntry (&names)[N], const char* name) {
  const std::string_view base = without_variant(name);
  for (const NameEntry& entry : names)
    if (base == entry.base) return entry.family;
  return trace::Family::count;
}

uint64_t load(const void* base, uint8_t at, uint8_t width = 8) {
  uint64_t value = 0;
  if (at != 0) memcpy(&value, static_cast<const char*>(base) + at - 1, width);
  return value;
}

template <class T>
const T* pack(const CallShape& shape, const void* parameters) {
  return static_cast<const T*>(packed_parameters(shape, parameters));
}

uint64_t number(const void* p) {
  return reinterpret_cast<uint64_t>(p);
}

void read_driver_side(CUmemorytype type, const void* host, CUdeviceptr device, CUarray array, uint64_t& out) {
  if (type == CU_MEMORYTYPE_HOST) {
    out = number(host);
  } else if (type == CU_MEMORYTYPE_ARRAY) {
    out = number(array);
  } else {
    out = device;
  }
}

uint64_t driver_kind(CUmemorytype src, CUmemorytype dst) {
  if (src == CU_MEMORYTYPE_UNIFIED || dst == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
  return (src == CU_MEMORYTYPE_HOST ? 0u : 2u) + (dst == CU_MEMORYTYPE_HOST ? 0u : 1u);
}

void read_packed(const CallShape& shape, const void* parameters, Operands& out) {
  switch (shape.special) {
    case Special::none:
      break;
    case Special::batch: {
      const auto* dsts = reinterpret_cast<const uint64_t*>(load(parameters, shape.dst));
      const auto* srcs = reinterpret_cast<const uint64_t*>(load(parameters, shape.src));
      const auto* sizes = reinterpret_cast<const size_t*>(load(parameters, shape.bytes));
      const uint64_t count = load(parameters, shape.rows, shape.rows_width);
      out.dst = out.src = out.bytes = 0;
      if (count == 0 || dsts == nullptr || srcs == nullptr || sizes == nullptr) break;
      out.dst = dsts[0];
      out.src = srcs[0];
      for (uint64_t i = 0; i < count; ++i) out.bytes += sizes[i];
      out.arg = cudaMemcpyDefault;
      break;
    }
    case Special::kernel_node:
    case Special::kernel_node_v1:
    case Special::memset_node:
    case Special::host_node:
    case Special::any_node:
    case Special::update_result:
    case Special::error_node:
    case Special::alloc_pitch:
    case Special::alloc_3d:
    case Special::out_bytes:
      break;  // read at exit
    case Special::instantiate_params:
      if (const auto* p = pack<CUDA_GRAPH_INSTANTIATE_PARAMS>(shape, parameters)) out.arg = p->flags;
      break;
    case Special::rt_memcpy3d:
      if (const auto* p = pack<cudaMemcpy3DParms>(shape, parameters)) {
        out.dst = p->dstArray != nullptr ? number(p->dstArray) : number(p->dstPtr.ptr);
        out.src = p->srcArray != nullptr ? number(p->srcArray) : number(p->srcPtr.ptr);
        out.bytes = uint64_t(p->extent.width) * p->extent.height * p->extent.depth;
        out.arg = p->kind;
      }
      break;
    case Special::rt_memcpy3d_peer:
      if (const auto* p = pack<cudaMemcpy3DPeerParms>(shape, parameters)) {
        out.dst = p->dstArray != nullptr ? number(p->dstArray) : number(p->dstPtr.ptr);
        out.src = p->srcArray != nullptr ? number(p->srcArray) : number(p->srcPtr.ptr);
        out.bytes = uint64_t(p->extent.width) * p->extent.height * p->extent.depth;
        out.arg = cudaMemcpyDeviceToDevice;
      }
      break;
    case Special::rt_memset3d: {
      cudaPitchedPtr target;
      memcpy(&target, static_cast<const char*>(parameters) + shape.pack - 1, sizeof(target));
      out.dst = number(target.ptr);
      out.bytes = uint64_t(target.xsize) * target.ysize;
      break;
    }
    case Special::rt_launch_config:
      if (const auto* p = pack<cudaLaunchConfig_t>(shape, parameters)) {
        out.stream = number(p->stream);
        out.has_stream = true;
        out.bytes = p->dynamicSmemBytes;
        memcpy(out.grid, &p->gridDim, sizeof(out.grid));
        memcpy(out.block, &p->blockDim, sizeof(out.block));
      }
      break;
    case Special::drv_memcpy2d:
      if (const auto* p = pack<CUDA_MEMCPY2D>(shape, parameters)) {
        read_driver_side(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, out.dst);
        read_driver_side(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, out.src);
        out.bytes = uint64_t(p->WidthInBytes) * p->Height;
        out.arg = driver_kind(p->srcMemoryType, p->dstMemoryType);
      }
      break;
    case Special::drv_memcpy3d:
      if (const auto* p = pack<CUDA_MEMCPY3D>(shape, parameters)) {
        read_driver_side(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, out.dst);
        read_driver_side(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, out.src);
        out.bytes = uint64_t(p->WidthInBytes) * p->Height * p->Depth;
        out.arg = driver_kind(p->srcMemoryType, p->dstMemoryType);
      }
      break;
    case Special::drv_memcpy3d_peer:
      if (const auto* p = pack<CUDA_MEMCPY3D_PEER>(shape, parameters)) {
        read_driver_side(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, out.dst);
        read_driver_side(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, out.src);
        out.bytes = uint64_t(p->WidthInBytes) * p->Height * p->Depth;
        out.arg = driver_kind(p->srcMemoryType, p->dstMemoryType);
      }
      break;
    case Special::drv_launch_config:
      if (const auto* p = pack<CUlaunchConfig>(shape, parameters)) {
        out.stream = number(p->hStream);
        out.has_stream = true;
        out.bytes = p->sharedMemBytes;
        out.grid[0] = p->gridDimX, out.grid[1] = p->gridDimY, out.grid[2] = p->gridDimZ;
        out.block[0] = p->blockDimX, out.block[1] = p->blockDimY, out.block[2] = p->blockDimZ;
      }
      break;
  }
}

}  // namespace

static_assert(kRuntimeIds < kMaxIds && kDriverIds < kMaxIds);

const CallShape* call_shape(uint32_t domain, uint32_t cbid) {
  if (domain < 1 || domain > 2 || cbid >= kMaxIds) return nullptr;
  const CallShape& shape = g_shapes[domain - 1][cbid];
  return shape.watched() ? &shape : nullptr;
}

uint32_t call_ids(uint32_t domain) {
  return domain == 1 ? kDriverIds : kRuntimeIds;
}

trace::Family family_of_name(uint32_t domain, const char* name) {
  return domain == 1 ? find(kDriverNames, name) : find(kRuntimeNames, name);
}

void adopt_call(uint32_t domain, uint32_t cbid, trace::Family family) {
  if (domain < 1 || domain > 2 || cbid >= kMaxIds) return;
  CallShape& shape = g_shapes[domain - 1][cbid];
  shape = {};
  shape.family = uint8_t(family);
  const bool window = trace::kFamilies[size_t(family)].watched == trace::Watched::in_captures;
  shape.flags = window ? kWindow : kAlways;
  const bool copy = family == trace::Family::memcpy_sync || family == trace::Family::memcpy_async;
  shape.copy_kind = copy ? uint8_t(cudaMemcpyDefault) : 255;
  shape.multiplier = 1;
}

const void* packed_parameters(const CallShape& shape, const void* parameters) {
  return parameters != nullptr ? reinterpret_cast<const void*>(load(parameters, shape.pack)) : nullptr;
}

GraphRefusal read_graph_refusal(const CallShape& shape, const void* parameters) {
  // The runtime's structures have the same layout.
  if (shape.special == Special::instantiate_params) {
    if (const auto* p = pack<CUDA_GRAPH_INSTANTIATE_PARAMS>(shape, parameters))
      return {number(p->hErrNode_out), 0, uint64_t(p->result_out)};
  } else if (shape.special == Special::update_result) {
    if (const auto* p = pack<CUgraphExecUpdateResultInfo>(shape, parameters))
      return {number(p->errorNode), number(p->errorFromNode), uint64_t(p->result)};
  } else if (shape.special == Special::error_node) {
    if (const auto* p = pack<CUgraphNode>(shape, parameters)) return {number(*p), 0, 0};
  }
  return {};
}

void read_operands(const CallShape& shape, const void* parameters, Operands& out) {
  out = {};
  if (shape.copy_kind != 255) out.arg = shape.copy_kind;
  if (parameters == nullptr) return;
  if (shape.stream != 0) {
    out.stream = load(parameters, shape.stream);
    out.has_stream = true;
  }
  out.object = load(parameters, shape.object);
  out.object2 = load(parameters, shape.object2);
  if (shape.special != Special::batch) {
    out.dst = load(parameters, shape.dst);
    out.src = load(parameters, shape.src);
    out.bytes = load(parameters, shape.bytes, shape.bytes_width) * shape.multiplier;
    if (shape.rows != 0) out.bytes *= load(parameters, shape.rows, shape.rows_width);
  }
  if (shape.arg != 0) out.arg = load(parameters, shape.arg, shape.arg_width);
  if (shape.inout != 0) {
    if (const auto* value = reinterpret_cast<const uint32_t*>(load(parameters, shape.inout)))
      out.arg = *value;
  }
  if (shape.grid != 0)
    memcpy(out.grid, static_cast<const char*>(parameters) + shape.grid - 1, sizeof(out.grid));
  if (shape.block != 0)
    memcpy(out.block, static_cast<const char*>(parameters) + shape.block - 1, sizeof(out.block));
  if (shape.special != Special::none) read_packed(shape, parameters, out);
}

uint64_t read_given_bytes(const CallShape& shape, const void* parameters) {
  if (parameters == nullptr || shape.pack == 0) return 0;
  switch (shape.special) {
    case Special::alloc_pitch: {
      const auto* pitch = pack<size_t>(shape, parameters);
      return pitch != nullptr ? uint64_t(*pitch) * load(parameters, shape.rows, shape.rows_width) : 0;
    }
    case Special::alloc_3d: {
      const auto* given = reinterpret_cast<const cudaPitchedPtr*>(load(parameters, shape.out));
      cudaExtent extent;
      memcpy(&extent, static_cast<const char*>(parameters) + shape.pack - 1, sizeof(extent));
      return given != nullptr ? uint64_t(given->pitch) * extent.height * extent.depth : 0;
    }
    case Special::out_bytes: {
      const auto* bytes = pack<size_t>(shape, parameters);
      return bytes != nullptr ? uint64_t(*bytes) : 0;
    }
    default:
      return 0;
  }
}

uint64_t read_product(const CallShape& shape, const void* parameters) {
  if (parameters == nullptr) return 0;
  if (shape.out != 0) {
    const auto* p = reinterpret_cast<const uint64_t*>(load(parameters, shape.out));
    return p != nullptr ? *p : 0;
  }
  if (shape.inout != 0) {
    const auto* p = reinterpret_cast<const uint32_t*>(load(parameters, shape.inout));
    return p != nullptr ? *p : 0;
  }
  return 0;
}

}  // namespace capgate::preload
