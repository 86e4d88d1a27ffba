// Of the fake libcuda.so.1: what a program without the runtime needs to capture and launch a memset.
#include "tests/unit/preload/fake/fake_cuda.h"

#define DRIVER_CALL(name, params) \
  fake::Call call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_##name, #name, params)

extern "C" {

CUresult cuGetErrorName(CUresult, const char** name) {
  return *name = "CUDA_ERROR_OF_THE_TESTS", CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int) {
  return *device = 0, CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  return *context = reinterpret_cast<CUcontext>(fake_next_handle()), CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return g_fake_context = context, CUDA_SUCCESS;
}

CUresult cuMemsetD32Async(CUdeviceptr address, unsigned int value, size_t count, CUstream handle) {
  cuMemsetD32Async_params params{address, value, count, handle};
  DRIVER_CALL(cuMemsetD32Async, &params);
  fake::Stream* stream = fake::stream_of(handle);
  if (stream != nullptr && stream->status == CU_STREAM_CAPTURE_STATUS_ACTIVE)
    fake::add_node(stream->graph, CU_GRAPH_NODE_TYPE_MEMSET);
  return CUresult(call.returns(0));
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
  cuGraphInstantiateWithFlags_params params{executable, graph, flags};
  DRIVER_CALL(cuGraphInstantiateWithFlags, &params);
  *executable = reinterpret_cast<CUgraphExec>(fake_next_handle());
  return CUresult(call.returns(0));
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream handle) {
  cuGraphLaunch_params params{executable, handle};
  DRIVER_CALL(cuGraphLaunch, &params);
  return CUresult(call.returns(0));
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
  cuGraphExecDestroy_params params{executable};
  DRIVER_CALL(cuGraphExecDestroy, &params);
  return CUresult(call.returns(0));
}

CUresult cuGraphDestroy(CUgraph graph) {
  cuGraphDestroy_params params{graph};
  DRIVER_CALL(cuGraphDestroy, &params);
  return CUresult(call.returns(0));
}

}  // extern "C"
