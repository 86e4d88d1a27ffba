// The few driver functions that are legal inside a capture window, looked up in the libcuda that the program
// uses.
#pragma once

#include <cuda.h>
#include <stdint.h>

#include "detector/trace/format.h"

namespace capgate::preload {

struct DriverApi {
  CUresult (*get_capture_info)(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*, const CUgraphNode**,
                               size_t*);
  CUresult (*exchange_mode)(CUstreamCaptureMode*);
  CUresult (*pointer_attribute)(void*, CUpointer_attribute, CUdeviceptr);
  CUresult (*ctx_get_device)(CUdevice*);
  CUresult (*ctx_get_current)(CUcontext*);
  CUresult (*driver_version)(int*);
  CUresult (*device_count)(int*);
  CUresult (*device_name)(char*, int, CUdevice);
  CUresult (*device_attribute)(int*, CUdevice_attribute, CUdevice);
  CUresult (*device_uuid)(CUuuid*, CUdevice);
  CUresult (*graph_nodes)(CUgraph, CUgraphNode*, size_t*);
  CUresult (*graph_edges)(CUgraph, CUgraphNode*, CUgraphNode*, size_t*);
  CUresult (*graph_edges_with_data)(CUgraph, CUgraphNode*, CUgraphNode*, CUgraphEdgeData*, size_t*);
  CUresult (*node_type)(CUgraphNode, CUgraphNodeType*);
  CUresult (*kernel_params)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS*);
  CUresult (*memcpy_params)(CUgraphNode, CUDA_MEMCPY3D*);
  CUresult (*memset_params)(CUgraphNode, CUDA_MEMSET_NODE_PARAMS*);
  CUresult (*host_params)(CUgraphNode, CUDA_HOST_NODE_PARAMS*);
  CUresult (*alloc_params)(CUgraphNode, CUDA_MEM_ALLOC_NODE_PARAMS*);
  CUresult (*free_params)(CUgraphNode, CUdeviceptr*);
  CUresult (*child_graph)(CUgraphNode, CUgraph*);
  CUresult (*node_attribute)(CUgraphNode, CUlaunchAttributeID, CUlaunchAttributeValue*);
  CUresult (*func_name)(const char**, CUfunction);
  CUresult (*func_module)(CUmodule*, CUfunction);
  CUresult (*kernel_name)(const char**, CUkernel);
  CUresult (*func_param_info)(CUfunction, size_t, size_t*, size_t*);
  CUresult (*kernel_param_info)(CUkernel, size_t, size_t*, size_t*);
};

extern constinit DriverApi g_driver;

// False: no libcuda is mapped. A function that an older driver lacks stays null.
bool find_driver();

struct StreamCapture {
  uint8_t status;  // CUstreamCaptureStatus, 255 unknown
  uint64_t id;
};

// Never to be called for the legacy stream: there it answers 906 while a blocking stream captures.
StreamCapture stream_capture(uint64_t stream, bool per_thread);

// What kind of memory an address is in. Legal in a capture window.
trace::Memory memory_kind(uint64_t address);

// Bytes of the allocation or mapping that begins at an address; 0 when CUDA does not tell. Legal as above.
uint64_t memory_bytes(uint64_t address);

// The device of the context that is current on this thread; `context` is that context.
int32_t current_device(uint64_t context);

// The device of a context that need not be current here: a resource callback may speak of one that is being
// made while another is current. kNoDevice when it cannot be told.
int32_t context_device(uint64_t context);

// For a context that ends: its address may become that of another device's.
void forget_context(uint64_t context);

}  // namespace capgate::preload
