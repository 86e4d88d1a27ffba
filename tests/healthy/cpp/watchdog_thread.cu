// A watchdog queries its event all the time, and an offload thread copies on a stream of its own, while
// another thread captures in thread-local mode.
#include <atomic>
#include <thread>

#include "tests/corpus/cpp/corpus.h"

static std::atomic<bool> stop{false};
static std::atomic<int> queries{0}, copies{0};

static void watch(cudaEvent_t event) {
  while (!stop) {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal;
    CU(cudaThreadExchangeStreamCaptureMode(&mode));
    CU(cudaEventQuery(event));
    CU(cudaThreadExchangeStreamCaptureMode(&mode));
    ++queries;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

static void offload(int* pinned, const int* weights, cudaStream_t stream) {
  while (!stop) {
    CU(cudaMemcpyAsync(pinned, weights, sizeof(int), cudaMemcpyDeviceToHost, stream));
    CU(cudaStreamSynchronize(stream));
    ++copies;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

int main() {
  const cudaStream_t stream = corpus::new_stream(), own = corpus::new_stream();
  const cudaEvent_t event = corpus::new_event();
  int* x = corpus::device_ints(2);
  int* pinned = nullptr;
  CU(cudaMallocHost(&pinned, sizeof(int)));
  add<<<1, 1, 0, stream>>>(x, 1);
  CU(cudaEventRecord(event, stream));
  CU(cudaStreamSynchronize(stream));

  std::thread watchdog(watch, event), offloader(offload, pinned, x + 1, own);
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  add<<<1, 1, 0, stream>>>(x, 1);
  const int queries_before = queries, copies_before = copies;
  while (queries < queries_before + 3 || copies < copies_before + 3) std::this_thread::yield();
  add<<<1, 1, 0, stream>>>(x, 1);
  const cudaGraph_t graph = corpus::end_capture(stream);
  stop = true;
  watchdog.join();
  offloader.join();
  if (!graph) return corpus::saw(false, "the capture died");
  corpus::replay(graph, stream, 3);
  return corpus::saw(corpus::read_one(x) == 7, "captured beside a watchdog and an offload thread");
}
