// A copy helper uses the batched copy of CUDA 13. A capturing stream refuses it with 900, the capture lives
// on, and nobody looks at the result: the graph lacks the copies. Public fault: rapidsai/rmm#2518.
#include "corpus.h"

static const int kParts = 2;

static void upload(int* const* device, int* const* pinned, cudaStream_t stream) {
#ifdef CLEAN
  for (int i = 0; i < kParts; ++i)
    CU(cudaMemcpyAsync(device[i], pinned[i], sizeof(int), cudaMemcpyHostToDevice, stream));
#else
  void* to[kParts] = {device[0], device[1]};
  const void* from[kParts] = {pinned[0], pinned[1]};
  size_t bytes[kParts] = {sizeof(int), sizeof(int)}, first = 0;
  cudaMemcpyAttributes how{};
  how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  // EXPECT: refused-call error upload
  (void)cudaMemcpyBatchAsync(to, from, bytes, kParts, &how, &first, 1, stream);
  (void)cudaGetLastError();
#endif
}

static void step(int* const* device, int* const* pinned, int* sum, cudaStream_t stream) {
  upload(device, pinned, stream);
  copy_value<<<1, 1, 0, stream>>>(sum, device[1]);
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* device[kParts] = {corpus::device_ints(1), corpus::device_ints(1)};
  int* sum = corpus::device_ints(1);
  int* pinned[kParts] = {};
  for (auto& part : pinned) CU(cudaMallocHost(&part, sizeof(int)));
  *pinned[0] = *pinned[1] = 7;
  step(device, pinned, sum, stream);
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  step(device, pinned, sum, stream);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph == nullptr) return corpus::saw(false, "the capture died");
  *pinned[1] = 42;
  corpus::replay(graph, stream, 3);
  return corpus::saw(corpus::read_one(sum) == (corpus::kClean ? 42 : 7),
                     corpus::kClean ? "each replay copies" : "no replay copies");
}
