// Kernels, host functions, graphs and captures within a capture.
#include "cell.h"

namespace legality {
namespace {

// Each used by one row only, so that the row finds it not yet loaded.
__global__ void cold_launch(int* x) {
  *x += 1;
}
__global__ void cold_attributes(int* x) {
  *x += 2;
}
__global__ void cold_symbol(int* x) {
  *x += 3;
}

void CUDART_CB nothing(void*) {}
void CUDART_CB nothing_after(cudaStream_t, cudaError_t, void*) {}

int make_graph(Things& t) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  if (const cudaError_t result = cudaStreamBeginCapture(t.other, cudaStreamCaptureModeRelaxed)) return result;
  touch<<<1, 1, 0, t.other>>>(t.device2);
  if (const cudaError_t result = cudaStreamEndCapture(t.other, &graph)) return result;
  if (const cudaError_t result = cudaGraphInstantiate(&exec, graph, 0)) return result;
  if (const cudaError_t result = cudaGraphLaunch(exec, t.other)) return result;
  t.spare = graph;
  t.spare2 = exec;
  return cudaStreamSynchronize(t.other);
}

cudaGraph_t graph_of(Things& t) {
  return static_cast<cudaGraph_t>(t.spare);
}
cudaGraphExec_t exec_of(Things& t) {
  return static_cast<cudaGraphExec_t>(t.spare2);
}

int launch(cudaStream_t stream, int* x) {
  touch<<<1, 1, 0, stream>>>(x);
  return cudaGetLastError();
}

}  // namespace

std::vector<Call> work_calls() {
  const char* kernel = "kernel";
  const char* function = "host function";
  const char* graph = "graph";
  const char* capture = "capture";
  return {
      {kernel, "kernel on captured", [](Things& t) { return launch(t.captured, t.device); }},
      {kernel, "kernel on captured, not loaded yet",
       [](Things& t) -> int {
         cold_launch<<<1, 1, 0, t.captured>>>(t.device);
         return cudaGetLastError();
       }},
      {kernel, "kernel on other", [](Things& t) { return launch(t.other, t.device2); }},
      {kernel, "kernel on legacy", [](Things& t) { return launch(cudaStreamLegacy, t.device2); }},
      {kernel, "kernel on per-thread", [](Things& t) { return launch(cudaStreamPerThread, t.device2); }},
      {kernel, "cudaLaunchCooperativeKernel(captured)",
       [](Things& t) -> int {
         void* arguments[] = {&t.device};
         return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(touch), dim3(1), dim3(1), arguments,
                                            0, t.captured);
       }},
      {kernel, "cudaFuncGetAttributes, not loaded yet",
       [](Things&) -> int {
         cudaFuncAttributes attributes;
         return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(cold_attributes));
       }},
      {kernel, "cudaGetFuncBySymbol, not loaded yet",
       [](Things&) -> int {
         cudaFunction_t found = nullptr;
         return cudaGetFuncBySymbol(&found, reinterpret_cast<const void*>(cold_symbol));
       }},
      {kernel, "cudaFuncSetAttribute",
       [](Things&) -> int {
         return cudaFuncSetAttribute(reinterpret_cast<const void*>(touch),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
       }},
      {kernel, "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
       [](Things&) -> int {
         int blocks = 0;
         return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, touch, 128, 0);
       }},
      {function, "cudaLaunchHostFunc(captured)",
       [](Things& t) -> int { return cudaLaunchHostFunc(t.captured, nothing, nullptr); }},
      {function, "cudaLaunchHostFunc(other)",
       [](Things& t) -> int { return cudaLaunchHostFunc(t.other, nothing, nullptr); }},
      {function, "cudaStreamAddCallback(captured)",
       [](Things& t) -> int { return cudaStreamAddCallback(t.captured, nothing_after, nullptr, 0); }},
      {function, "cudaStreamAddCallback(other)",
       [](Things& t) -> int { return cudaStreamAddCallback(t.other, nothing_after, nullptr, 0); }},
      {graph, "cudaGraphLaunch(captured)",
       [](Things& t) -> int { return cudaGraphLaunch(exec_of(t), t.captured); }, make_graph},
      {graph, "cudaGraphLaunch(other)", [](Things& t) -> int { return cudaGraphLaunch(exec_of(t), t.other); },
       make_graph},
      {graph, "cudaGraphLaunch(legacy)",
       [](Things& t) -> int { return cudaGraphLaunch(exec_of(t), cudaStreamLegacy); }, make_graph},
      {graph, "cudaGraphInstantiate",
       [](Things& t) -> int {
         cudaGraphExec_t exec = nullptr;
         return cudaGraphInstantiate(&exec, graph_of(t), 0);
       },
       make_graph},
      {graph, "cudaGraphUpload(other)", [](Things& t) -> int { return cudaGraphUpload(exec_of(t), t.other); },
       make_graph},
      {graph, "cudaGraphExecUpdate",
       [](Things& t) -> int {
         cudaGraphExecUpdateResultInfo info;
         return cudaGraphExecUpdate(exec_of(t), graph_of(t), &info);
       },
       make_graph},
      {graph, "cudaGraphExecDestroy", [](Things& t) -> int { return cudaGraphExecDestroy(exec_of(t)); },
       make_graph},
      {graph, "cudaGraphDestroy", [](Things& t) -> int { return cudaGraphDestroy(graph_of(t)); }, make_graph},
      {graph, "cudaGraphCreate",
       [](Things&) -> int {
         cudaGraph_t made = nullptr;
         return cudaGraphCreate(&made, 0);
       }},
      {capture, "cudaStreamBeginCapture(captured)",
       [](Things& t) -> int { return cudaStreamBeginCapture(t.captured, t.mode); }},
      {capture, "cudaStreamBeginCapture(other), work, end",
       [](Things& t) -> int {
         cudaGraph_t made = nullptr;
         if (const cudaError_t result = cudaStreamBeginCapture(t.other, t.mode)) return result;
         launch(t.other, t.device2);
         return cudaStreamEndCapture(t.other, &made);
       }},
      {capture, "cudaStreamBeginCapture(other), join of both captures",
       [](Things& t) -> int {
         cudaGraph_t made = nullptr;
         if (const cudaError_t result = cudaStreamBeginCapture(t.other, t.mode)) return result;
         launch(t.other, t.device2);
         const cudaError_t result = cudaStreamWaitEvent(t.other, t.inside, 0);
         (void)cudaStreamEndCapture(t.other, &made);
         return result;
       }},
      {capture, "cudaStreamBeginCapture(legacy)",
       [](Things& t) -> int { return cudaStreamBeginCapture(cudaStreamLegacy, t.mode); }},
      {capture, "cudaStreamEndCapture(captured)",
       [](Things& t) -> int {
         return cudaStreamEndCapture(t.captured, reinterpret_cast<cudaGraph_t*>(&t.spare));
       }},
      {capture, "cudaStreamEndCapture(other)",
       [](Things& t) -> int {
         return cudaStreamEndCapture(t.other, reinterpret_cast<cudaGraph_t*>(&t.spare));
       }},
      {capture, "cudaStreamIsCapturing(captured)",
       [](Things& t) -> int {
         cudaStreamCaptureStatus status;
         return cudaStreamIsCapturing(t.captured, &status);
       }},
      {capture, "cudaStreamIsCapturing(legacy)",
       [](Things&) -> int {
         cudaStreamCaptureStatus status;
         return cudaStreamIsCapturing(cudaStreamLegacy, &status);
       }},
      {capture, "cudaThreadExchangeStreamCaptureMode, cudaMalloc",
       [](Things& t) -> int {
         cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
         if (const cudaError_t result = cudaThreadExchangeStreamCaptureMode(&mode)) return result;
         const cudaError_t result = cudaMalloc(&t.spare, kBlock);
         (void)cudaThreadExchangeStreamCaptureMode(&mode);
         return result;
       }},
  };
}

}  // namespace legality
