// A loader thread allocates device memory through the driver API while a step is captured in global mode.
// Public fault: the class of pytorch/pytorch#104555, with an allocation in place of the query.
// CORPUS-BUILD: driver
#include <cuda.h>

#include <thread>

#include "corpus.h"

static void load_next_shard(CUcontext context) {
  CUdeviceptr shard = 0;
  cuCtxSetCurrent(context);
  const CUresult result = cuMemAlloc(&shard, 1 << 20);  // EXPECT: cross-thread-call error load_next_shard
  std::printf("the loader's allocation: %d\n", static_cast<int>(result));
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  add<<<1, 1, 0, stream>>>(x, 1);
  CU(cudaStreamSynchronize(stream));
  CUcontext context = nullptr;
  cuCtxGetCurrent(&context);

#ifdef CLEAN
  const cudaStreamCaptureMode mode =
      cudaStreamCaptureModeThreadLocal;  // the loader is not this capture's business
#else
  const cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
#endif
  CU(cudaStreamBeginCapture(stream, mode));
  add<<<1, 1, 0, stream>>>(x, 1);
  std::thread(load_next_shard, context).join();
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph) corpus::replay(graph, stream, 3);
  return corpus::capture_dies(graph, corpus::read_one(x) == 4);
}
