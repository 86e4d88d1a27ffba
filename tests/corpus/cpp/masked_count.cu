// Mask selection: the number of chosen rows goes to the host, which sizes the next launch by it. The copy
// is accepted inside the capture and reads what warm-up left behind.
// Public fault: pytorch/pytorch#78549.
#include "corpus.h"

constexpr int kRows = 32;

__global__ void count_rows(const int* mask, int* count) {
  if (threadIdx.x == 0) *count = 0;
  __syncthreads();
  if (mask[threadIdx.x]) atomicAdd(count, 1);
}

__global__ void touch_rows(int* rows, const int* count) {
  if (static_cast<int>(threadIdx.x) < *count) rows[threadIdx.x] += 1;
}

static void select(const int* mask, int* count, int* rows, cudaStream_t stream) {
  count_rows<<<1, kRows, 0, stream>>>(mask, count);
#ifdef CLEAN
  touch_rows<<<1, kRows, 0, stream>>>(
      rows, count);  // as many threads as there may be rows; the device knows the count
#else
  int chosen = 0;
  CU(cudaMemcpy(&chosen, count, sizeof chosen, cudaMemcpyDeviceToHost));  // EXPECT: sync-copy error select
  if (chosen > 0) touch_rows<<<1, chosen, 0, stream>>>(rows, count);
#endif
}

static void set_mask(int* mask, int chosen) {
  std::vector<int> host(kRows, 0);
  for (int i = 0; i < chosen; ++i) host[i] = 1;
  CU(cudaMemcpy(mask, host.data(), kRows * sizeof(int), cudaMemcpyHostToDevice));
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* mask = corpus::device_ints(kRows);
  int* count = corpus::device_ints(1);
  int* rows = corpus::device_ints(kRows);
  set_mask(mask, 8);
  CU(cudaDeviceSynchronize());
  select(mask, count, rows, stream);
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  select(mask, count, rows, stream);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (!graph) return corpus::saw(false, "the capture died");
  set_mask(mask, 20);
  CU(cudaMemset(rows, 0, kRows * sizeof(int)));
  CU(cudaDeviceSynchronize());
  corpus::replay(graph, stream, 2);
  const std::vector<int> after = corpus::read_back(rows, kRows);
  return corpus::kClean ? corpus::saw(after[19] == 2 && after[20] == 0, "20 rows chosen, 20 touched")
                        : corpus::saw(after[19] == 0, "the replay touches as many rows as the warm-up chose");
}
