// CORPUS-BUILD: driver
// Weights sleep: their physical memory is unmapped, and something else is mapped at the address meanwhile.
// The graph is launched before the weights are back.
#include <cuda.h>

#include "corpus.h"

#define DRV(call) CU(static_cast<cudaError_t>(call))

static CUmemAllocationProp on_device() {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  return prop;
}

static void allow(CUdeviceptr at, size_t bytes) {
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  DRV(cuMemSetAccess(at, bytes, &access, 1));
}

static void wake(CUdeviceptr at, size_t bytes, CUmemGenericAllocationHandle weights) {
  DRV(cuMemMap(at, bytes, 0, weights, 0));
  allow(at, bytes);
}

static void sleep(CUdeviceptr at, size_t bytes) {
  DRV(cuMemUnmap(at, bytes));  // EXPECT: freed-memory error sleep
}

[[maybe_unused]] static void lend(CUdeviceptr at, size_t bytes, CUmemGenericAllocationHandle other) {
  DRV(cuMemMap(at, bytes, 0, other, 0));
  allow(at, bytes);
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  const CUmemAllocationProp prop = on_device();
  size_t bytes = 0;
  DRV(cuMemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUdeviceptr at = 0;
  CUmemGenericAllocationHandle weights, other;
  DRV(cuMemAddressReserve(&at, bytes, 0, 0, 0));
  DRV(cuMemCreate(&weights, bytes, &prop, 0));
  DRV(cuMemCreate(&other, bytes, &prop, 0));
  wake(at, bytes, weights);
  int* const w = reinterpret_cast<int*>(at);
  CU(cudaMemset(w, 0, bytes));
  add<<<1, 1, 0, stream>>>(w, 6);
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  copy_value<<<1, 1, 0, stream>>>(x, w);
  const cudaGraphExec_t exec = corpus::instantiate(corpus::end_capture(stream));
  CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  sleep(at, bytes);
#ifdef CLEAN
  wake(at, bytes, weights);  // the same memory from the same line
#else
  lend(at, bytes, other);
#endif
  CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  const int value = corpus::read_one(x);
  return corpus::saw(corpus::kClean ? value == 6 : value != 6, "what the graph read as its weights");
}
