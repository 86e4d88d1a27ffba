// Expert routing: a prefix sum on the device, and the host reads its last element to choose the grid.
// Public fault: RobTand/gridbook#47.
#include "corpus.h"

constexpr int kExperts = 4;

__global__ void prefix_sum(const int* tokens, int* offsets) {
  int sum = 0;
  for (int i = 0; i < kExperts; ++i) offsets[i] = sum += tokens[i];
}

__global__ void expert_blocks(int* out, const int* offsets) {
  if (static_cast<int>(blockIdx.x) < offsets[kExperts - 1]) atomicAdd(out, 1);
}

[[maybe_unused]] static int blocks_needed(const int* offsets, int* pinned, cudaStream_t stream) {
  const int* last = offsets + kExperts - 1;
  (void)cudaMemcpyAsync(pinned, last, sizeof(int), cudaMemcpyDeviceToHost, stream);
  const cudaError_t result = cudaStreamSynchronize(stream);  // EXPECT: host-sync error blocks_needed
  if (result != cudaSuccess) std::printf("reading the offset: %s\n", cudaGetErrorString(result));
  return *pinned;
}

static void route(const int* tokens, int* offsets, int* out, [[maybe_unused]] int* pinned,
                  cudaStream_t stream) {
  prefix_sum<<<1, 1, 0, stream>>>(tokens, offsets);
#ifdef CLEAN
  constexpr int kMostBlocks = 64;
  expert_blocks<<<kMostBlocks, 1, 0, stream>>>(out, offsets);
#else
  expert_blocks<<<blocks_needed(offsets, pinned, stream), 1, 0, stream>>>(out, offsets);
#endif
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* tokens = corpus::device_ints(kExperts);
  int* offsets = corpus::device_ints(kExperts);
  int* out = corpus::device_ints(1);
  int* pinned = nullptr;
  CU(cudaMallocHost(&pinned, sizeof(int)));
  const int host[kExperts] = {3, 0, 2, 5};
  CU(cudaMemcpy(tokens, host, sizeof host, cudaMemcpyHostToDevice));
  CU(cudaDeviceSynchronize());
  route(tokens, offsets, out, pinned, stream);
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  route(tokens, offsets, out, pinned, stream);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph) corpus::replay(graph, stream, 3);
  return corpus::capture_dies(graph, corpus::read_one(out) == 40);
}
