// Functions that end the region that they begin, and get out of it early only where something failed: their
// callers go on without one. And functions that are there to begin one.
#include <cuda_runtime.h>

#include <cstdlib>

#define CHECK(call)         \
  do {                      \
    const int got = (call); \
    if (got) return got;    \
  } while (0)
#define CUDA_CHECK(call)                 \
  do {                                   \
    if ((call) != cudaSuccess) return 1; \
  } while (0)
#define CUDA_RETURN(call)                   \
  do {                                      \
    const cudaError_t error = (call);       \
    if (error != cudaSuccess) return error; \
  } while (0)

int work(cudaStream_t stream) {
  return cudaMemsetAsync(nullptr, 0, 4, stream) != cudaSuccess;
}
bool ready(cudaStream_t stream) {
  return work(stream) == 0;
}

// Several streams, behind an option, as a benchmark does it.
int timed(cudaStream_t* streams, int n, int graphs) {
  cudaGraph_t graph;
  if (graphs >= 1)
    for (int i = 0; i < n; ++i)
      CUDA_CHECK(cudaStreamBeginCapture(streams[i], cudaStreamCaptureModeThreadLocal));
  CHECK(work(streams[0]));
  cudaStreamSynchronize(streams[0]);  // EXPECT: host-sync
  if (graphs >= 1)
    for (int i = 0; i < n; ++i) CUDA_CHECK(cudaStreamEndCapture(streams[i], &graph));
  cudaStreamSynchronize(streams[0]);  // CLEAN: host-sync
  return 0;
}
int test(cudaStream_t* streams, int n, int graphs) {
  for (int i = 0; i < 3; ++i) {
    CHECK(timed(streams, n, graphs));
    cudaStreamSynchronize(streams[0]);  // CLEAN: host-sync
  }
  return 0;
}
int program(cudaStream_t* streams) {
  CHECK(test(streams, 1, 1));
  cudaDeviceSynchronize();  // CLEAN: host-sync
  return 0;
}

// A status: CUDA's own.
cudaError_t status(cudaStream_t stream, cudaGraph_t* graph) {
  CUDA_RETURN(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CUDA_RETURN(cudaMemsetAsync(nullptr, 0, 4, stream));
  return cudaStreamEndCapture(stream, graph);
}
cudaError_t after_status(cudaStream_t stream) {
  cudaGraph_t graph;
  CUDA_RETURN(status(stream, &graph));
  return cudaStreamSynchronize(stream);  // CLEAN: host-sync
}

// A bool, a pointer, nothing at all.
bool succeeds(cudaStream_t stream) {
  cudaGraph_t graph;
  if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess) return false;
  if (!ready(stream)) return false;
  return cudaStreamEndCapture(stream, &graph) == cudaSuccess;
}
void after_bool(cudaStream_t stream) {
  if (!succeeds(stream)) return;
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}
cudaGraphExec_t recorded(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t exec = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  if (!ready(stream)) return nullptr;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  return exec;
}
void after_pointer(cudaStream_t stream) {
  cudaGraphExec_t exec = recorded(stream);
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
  cudaGraphLaunch(exec, stream);
}
void silent(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  if (!ready(stream)) return;
  cudaStreamEndCapture(stream, &graph);
}
void after_silence(cudaStream_t stream) {
  silent(stream);
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}

// Begun and ended by others.
int begins(cudaStream_t stream) {
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  return 0;
}
int ends(cudaStream_t stream) {
  cudaGraph_t graph;
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  return 0;
}
int in_parts(cudaStream_t stream) {
  CHECK(begins(stream));
  CHECK(work(stream));
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
  CHECK(ends(stream));
  return 0;
}
int after_parts(cudaStream_t stream) {
  CHECK(in_parts(stream));
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
  return 0;
}

// There to begin one: what undoes a failed begin does not end it for those for whom it went well.
bool starts(cudaStream_t stream) {
  cudaGraph_t graph;
  if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess) return false;
  if (ready(stream)) return true;
  cudaStreamEndCapture(stream, &graph);
  return false;
}
void started(cudaStream_t stream) {
  cudaGraph_t graph;
  if (!starts(stream)) {
    cudaStreamSynchronize(stream);  // CLEAN: host-sync
    return;
  }
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
  cudaStreamEndCapture(stream, &graph);
}
cudaError_t prepares(cudaStream_t stream) {
  cudaGraph_t graph;
  CUDA_RETURN(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  const cudaError_t error = cudaMemsetAsync(nullptr, 0, 4, stream);
  if (error == cudaSuccess) return cudaSuccess;
  cudaStreamEndCapture(stream, &graph);
  return error;
}
void prepared(cudaStream_t stream) {
  cudaGraph_t graph;
  if (prepares(stream) != cudaSuccess) return;
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
  cudaStreamEndCapture(stream, &graph);
}
void opens(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  if (!ready(stream)) {
    cudaStreamEndCapture(stream, &graph);
    return;
  }
  cudaMemsetAsync(nullptr, 0, 4, stream);
}
void opened(cudaStream_t stream) {
  cudaGraph_t graph;
  opens(stream);
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
  cudaStreamEndCapture(stream, &graph);
}
// Only where it says so, and not always.
bool maybe(cudaStream_t stream, bool wanted) {
  if (!wanted) return true;
  return cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess;
}
void perhaps(cudaStream_t stream, bool wanted) {
  cudaGraph_t graph;
  if (!maybe(stream, wanted)) {
    cudaStreamSynchronize(stream);  // CLEAN: host-sync
    return;
  }
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
  if (wanted) cudaStreamEndCapture(stream, &graph);
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}
// Zero with the capture open is what it returns without one, too: no failure.
int shortened(cudaStream_t stream, int n) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);  // EXPECT: not-analysed
  if (n == 0) return 0;
  cudaStreamEndCapture(stream, &graph);
  return 0;
}
int short_of_an_end(cudaStream_t stream, int n) {
  if (shortened(stream, n)) return 1;
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
  return 0;
}
int failed(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  if (!ready(stream)) return 1;
  cudaStreamEndCapture(stream, &graph);
  return 0;
}
int gone_on(cudaStream_t stream) {
  if (failed(stream)) return 1;
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
  return 0;
}
// Behind a whole capture the host may wait.
void short_of_nothing(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  cudaStreamEndCapture(stream, &graph);
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}
