// host-pointer: copy nodes of graphs that are built by hand keep the address of their host operand.
#include <capgate/capgate.h>
#include <cuda.h>
#include <cuda_runtime.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

__device__ float table[16];

CAPGATE_REGION void host_to_device(cudaGraph_t g, float* d, float scalar) {
  cudaGraphNode_t n;
  float local[4] = {};
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, &scalar, 4, cudaMemcpyHostToDevice);      // EXPECT: host-pointer
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, local + 1, 4, cudaMemcpyHostToDevice);    // EXPECT: host-pointer
  std::vector<float> list(4);
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, list.data(), 16, cudaMemcpyHostToDevice);  // EXPECT: host-pointer
  std::array<float, 4> fixed = {};
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, fixed.data(), 16, cudaMemcpyHostToDevice);  // EXPECT: host-pointer
  std::string text = "prompt";
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, text.data(), 4, cudaMemcpyHostToDevice);  // EXPECT: host-pointer
  float* heap = static_cast<float*>(std::malloc(64));
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, heap, 64, cudaMemcpyHostToDevice);        // EXPECT: host-pointer
  auto owned = std::make_unique<float[]>(16);
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, owned.get(), 64, cudaMemcpyDefault);      // EXPECT: host-pointer
  std::free(heap);
}

CAPGATE_REGION void device_to_host(cudaGraph_t g, cudaGraphExec_t exec, cudaGraphNode_t n, const float* d) {
  cudaGraphNode_t added;
  float local[4] = {};
  std::vector<float> list(4);
  cudaGraphAddMemcpyNode1D(&added, g, nullptr, 0, local, d, 16, cudaMemcpyDeviceToHost);   // EXPECT: host-pointer
  cudaGraphMemcpyNodeSetParams1D(n, list.data(), d, 16, cudaMemcpyDeviceToHost);           // EXPECT: host-pointer
  cudaGraphExecMemcpyNodeSetParams1D(exec, n, local, d, 16, cudaMemcpyDeviceToHost);       // EXPECT: host-pointer
  cudaGraphAddMemcpyNodeFromSymbol(&added, g, nullptr, 0, local, table, 16, 0, cudaMemcpyDeviceToHost);  // EXPECT: host-pointer
  cudaGraphAddMemcpyNodeToSymbol(&added, g, nullptr, 0, table, list.data(), 16, 0, cudaMemcpyHostToDevice);  // EXPECT: host-pointer
}

CAPGATE_REGION void by_parameters(cudaGraph_t g, cudaPitchedPtr d) {
  cudaGraphNode_t n;
  float local[4] = {};
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(local, 16, 4, 1);
  p.dstPtr = d;
  p.extent = make_cudaExtent(16, 1, 1);
  p.kind = cudaMemcpyHostToDevice;
  cudaGraphAddMemcpyNode(&n, g, nullptr, 0, &p);  // EXPECT: host-pointer
}

CAPGATE_REGION void by_parameters_of_the_driver(CUgraph g, CUcontext context, CUdeviceptr d) {
  CUgraphNode n;
  float local[4] = {};
  CUDA_MEMCPY3D p = {};
  p.srcMemoryType = CU_MEMORYTYPE_HOST;
  p.srcHost = local;
  p.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  p.dstDevice = d;
  p.WidthInBytes = 16;
  p.Height = p.Depth = 1;
  cuGraphAddMemcpyNode(&n, g, nullptr, 0, &p, context);  // EXPECT: host-pointer
}

// Pinned, registered, the device's own, or memory of which nothing is known.
CAPGATE_REGION void unknown(cudaGraph_t g, cudaGraphExec_t exec, cudaGraphNode_t n, float* d, float* e, float* h,
                            const std::vector<float*>& staging) {
  cudaGraphNode_t added;
  cudaGraphAddMemcpyNode1D(&added, g, nullptr, 0, d, e, 16, cudaMemcpyDeviceToDevice);         // CLEAN: host-pointer
  cudaGraphAddMemcpyNode1D(&added, g, nullptr, 0, d, h, 16, cudaMemcpyHostToDevice);           // CLEAN: host-pointer
  cudaGraphAddMemcpyNode1D(&added, g, nullptr, 0, h, d, 16, cudaMemcpyDeviceToHost);           // CLEAN: host-pointer
  cudaGraphAddMemcpyNode1D(&added, g, nullptr, 0, d, staging[0], 16, cudaMemcpyHostToDevice);  // CLEAN: host-pointer
  cudaGraphMemcpyNodeSetParams1D(n, h, d, 16, cudaMemcpyDeviceToHost);                         // CLEAN: host-pointer
  cudaGraphExecMemcpyNodeSetParams1D(exec, n, d, h, 16, cudaMemcpyHostToDevice);               // CLEAN: host-pointer
  cudaGraphAddMemcpyNodeFromSymbol(&added, g, nullptr, 0, h, table, 16, 0, cudaMemcpyDeviceToHost);  // CLEAN: host-pointer
  cudaGraphAddMemcpyNodeToSymbol(&added, g, nullptr, 0, table, d, 16, 0, cudaMemcpyDeviceToDevice);  // CLEAN: host-pointer
}

void pinned(cudaGraph_t g, float* d) {
  cudaGraphNode_t n;
  float *host, *mapped;
  cudaMallocHost(&host, 64);
  cudaHostAlloc(&mapped, 64, cudaHostAllocMapped);
  std::vector<float> registered(16);
  cudaHostRegister(registered.data(), 64, cudaHostRegisterDefault);
  capgate_region_begin("build");
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, host, 16, cudaMemcpyHostToDevice);    // CLEAN: host-pointer
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, mapped, d, 16, cudaMemcpyDeviceToHost);  // CLEAN: host-pointer
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, registered.data(), 16, cudaMemcpyHostToDevice);  // CLEAN: host-pointer
  capgate_region_end();
}

CAPGATE_REGION void pinned_parameters(cudaGraph_t g, cudaPitchedPtr d, cudaPitchedPtr h) {
  cudaGraphNode_t n;
  cudaMemcpy3DParms p = {};
  p.srcPtr = h;
  p.dstPtr = d;
  p.extent = make_cudaExtent(16, 1, 1);
  p.kind = cudaMemcpyHostToDevice;
  cudaGraphAddMemcpyNode(&n, g, nullptr, 0, &p);  // CLEAN: host-pointer, the parameters are read now
}

// A kernel's parameters are copied into the node when it is added; so are the bytes of a memset.
__global__ void work(float* p, float x);
CAPGATE_REGION void kernel_parameters(cudaGraph_t g, float* d) {
  cudaGraphNode_t n;
  float scale = 2;
  void* arguments[] = {&d, &scale};
  cudaKernelNodeParams p = {};
  p.func = reinterpret_cast<void*>(work);
  p.gridDim = p.blockDim = dim3(1);
  p.kernelParams = arguments;
  cudaGraphAddKernelNode(&n, g, nullptr, 0, &p);  // CLEAN: host-pointer
  cudaMemsetParams set = {};
  set.dst = d;
  set.elementSize = 4;
  set.width = set.height = 1;
  cudaGraphAddMemsetNode(&n, g, nullptr, 0, &set);  // CLEAN: host-pointer
}

// The graph is launched where the local lives.
void outside(cudaGraph_t g, cudaGraphExec_t exec, float* d, cudaStream_t s) {
  cudaGraphNode_t n;
  float local[4] = {};
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, local, 16, cudaMemcpyHostToDevice);  // CLEAN: host-pointer
  cudaGraphInstantiate(&exec, g, 0);
  cudaGraphLaunch(exec, s);
  cudaStreamSynchronize(s);
}
