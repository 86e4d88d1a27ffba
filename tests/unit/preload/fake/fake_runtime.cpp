#include "tests/unit/preload/fake/fake_runtime.h"

#include <string>

#define RUNTIME_CALL(name, params, ...)                                                              \
  static const std::string api = without_version(#name);                                             \
  fake::Call call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_##name, api.c_str(), params, \
                  ##__VA_ARGS__)

namespace fake_rt {
namespace {

// "cudaMalloc_v3020" -> "cudaMalloc", kept for the life of the process as CUPTI promises.
std::string without_version(const std::string& name) {
  return name.substr(0, name.find("_v"));
}

void start() {
  cuInit(0);
  if (g_fake_context == nullptr) g_fake_context = reinterpret_cast<CUcontext>(0x5000);
}

CUstream driver(cudaStream_t stream) {
  return reinterpret_cast<CUstream>(stream);
}

}  // namespace

int malloc_device(void** out, size_t bytes) {
  start();
  cudaMalloc_v3020_params params{out, bytes};
  RUNTIME_CALL(cudaMalloc_v3020, &params);
  return call.returns(cuMemAlloc_v2(reinterpret_cast<CUdeviceptr*>(out), bytes));
}

int malloc_host(void** out, size_t bytes) {
  start();
  cudaHostAlloc_v3020_params params{out, bytes, 0};
  RUNTIME_CALL(cudaHostAlloc_v3020, &params);
  return call.returns(cuMemHostAlloc(out, bytes, 0));
}

int stream_create(cudaStream_t* out, unsigned int flags) {
  start();
  cudaStreamCreateWithFlags_v5000_params params{out, flags};
  RUNTIME_CALL(cudaStreamCreateWithFlags_v5000, &params);
  return call.returns(cuStreamCreate(reinterpret_cast<CUstream*>(out), flags));
}

int stream_synchronize(cudaStream_t stream) {
  start();
  cudaStreamSynchronize_v3020_params params{stream};
  RUNTIME_CALL(cudaStreamSynchronize_v3020, &params);
  return call.returns(cuStreamSynchronize(driver(stream)));
}

int stream_synchronize_ptsz(cudaStream_t stream) {
  start();
  cudaStreamSynchronize_ptsz_v7000_params params{stream};
  RUNTIME_CALL(cudaStreamSynchronize_ptsz_v7000, &params);
  return call.returns(0);
}

int stream_synchronize_unknown_to_headers(cudaStream_t stream) {
  start();
  cudaStreamSynchronize_v3020_params params{stream};
  fake::Call call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_SIZE, "cudaStreamSynchronize_v99000",
                  &params);
  return call.returns(0);
}

int stream_query(cudaStream_t stream) {
  start();
  cudaStreamQuery_v3020_params params{stream};
  RUNTIME_CALL(cudaStreamQuery_v3020, &params);
  return call.returns(600);
}

int begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  start();
  cudaStreamBeginCapture_v10000_params params{stream, mode};
  RUNTIME_CALL(cudaStreamBeginCapture_v10000, &params);
  return call.returns(cuStreamBeginCapture_v2(driver(stream), CUstreamCaptureMode(mode)));
}

int end_capture(cudaStream_t stream, cudaGraph_t* graph) {
  start();
  cudaStreamEndCapture_v10000_params params{stream, graph};
  RUNTIME_CALL(cudaStreamEndCapture_v10000, &params);
  return call.returns(cuStreamEndCapture(driver(stream), reinterpret_cast<CUgraph*>(graph)));
}

int launch(cudaStream_t stream, const char* symbol, uint64_t a, uint32_t b, bool loads_module) {
  start();
  cudaLaunchKernel_v7000_params params{};
  params.func = reinterpret_cast<const void*>(&launch);
  params.gridDim = {4, 2, 1};
  params.blockDim = {128, 1, 1};
  params.stream = stream;
  RUNTIME_CALL(cudaLaunchKernel_v7000, &params, symbol);
  if (loads_module) {
    CUmodule module = nullptr;
    cuModuleLoadData(&module, nullptr);
  }
  return call.returns(fake_launch(driver(stream), reinterpret_cast<CUfunction>(0x7000), symbol, a, b));
}

int memcpy_async(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  start();
  cudaMemcpyAsync_v3020_params params{dst, src, bytes, kind, stream};
  RUNTIME_CALL(cudaMemcpyAsync_v3020, &params);
  return call.returns(cuMemcpyHtoDAsync_v2(reinterpret_cast<CUdeviceptr>(dst), src, bytes, driver(stream)));
}

int memcpy_sync(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind) {
  start();
  cudaMemcpy_v3020_params params{dst, src, bytes, kind};
  RUNTIME_CALL(cudaMemcpy_v3020, &params);
  return call.returns(0);
}

int exchange_mode(cudaStreamCaptureMode* mode) {
  start();
  cudaThreadExchangeStreamCaptureMode_v10010_params params{mode};
  RUNTIME_CALL(cudaThreadExchangeStreamCaptureMode_v10010, &params);
  auto driver_mode = CUstreamCaptureMode(*mode);
  const int result = cuThreadExchangeStreamCaptureMode(&driver_mode);
  *mode = cudaStreamCaptureMode(driver_mode);
  return call.returns(result);
}

int event_record(cudaEvent_t event, cudaStream_t stream) {
  start();
  cudaEventRecord_v3020_params params{event, stream};
  RUNTIME_CALL(cudaEventRecord_v3020, &params);
  return call.returns(0);
}

int graph_instantiate(cudaGraphExec_t* exec, cudaGraph_t graph) {
  start();
  cudaGraphInstantiate_v12000_params params{exec, graph, 0};
  RUNTIME_CALL(cudaGraphInstantiate_v12000, &params);
  *exec = reinterpret_cast<cudaGraphExec_t>(fake_next_handle());
  CUpti_GraphData data{};
  data.graph = reinterpret_cast<CUgraph>(graph);
  data.graphExec = reinterpret_cast<CUgraphExec>(*exec);
  fake::resource(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, nullptr, &data);
  return call.returns(0);
}

int graph_launch(cudaGraphExec_t exec, cudaStream_t stream) {
  start();
  cudaGraphLaunch_v10000_params params{exec, stream};
  RUNTIME_CALL(cudaGraphLaunch_v10000, &params);
  return call.returns(0);
}

}  // namespace fake_rt
