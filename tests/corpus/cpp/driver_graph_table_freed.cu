// The driver's calls build a graph that copies from a table. The table is freed once the executable is there.
// CORPUS-BUILD: driver
#include <cuda.h>

#include "corpus.h"

static void require(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s: %d\n", call, result);
  std::exit(1);
}
#define DRV(call) require((call), #call)

static CUgraphExec make_step(CUdeviceptr to, CUdeviceptr from) {
  CUgraph graph = nullptr;
  DRV(cuGraphCreate(&graph, 0));
  CUcontext context = nullptr;
  DRV(cuCtxGetCurrent(&context));
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = from;
  copy.dstDevice = to;
  copy.WidthInBytes = sizeof(int);
  copy.Height = copy.Depth = 1;
  CUgraphNode node = nullptr;
  DRV(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context));
  CUgraphExec exec = nullptr;
  DRV(cuGraphInstantiate(&exec, graph, 0));
#ifndef CLEAN
  DRV(cuMemFree(from));  // EXPECT: freed-memory error make_step
#endif
  return exec;
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  CUdeviceptr table = 0;
  DRV(cuMemAlloc(&table, 1 << 20));
  DRV(cuMemsetD32(table, 5, 1));
  const CUgraphExec exec = make_step(reinterpret_cast<CUdeviceptr>(x), table);
  int* tenant = corpus::device_ints((1 << 20) / sizeof(int));
  CU(cudaMemset(tenant, 0, sizeof(int)));
  DRV(cuGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  const int value = corpus::read_one(x);
  if (!corpus::kClean)
    return corpus::saw(true, value == 5 ? "nobody was there yet" : "it read somebody else's block");
  return corpus::saw(value == 5, "a copy of its own table");
}
