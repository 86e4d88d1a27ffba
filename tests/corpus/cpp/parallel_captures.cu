// Four threads capture at once, each its own stream; one of them waits inside its capture. The other three
// are fine.
// Public fault: microsoft/onnxruntime#15002 in a server with a session a thread.
#include <atomic>
#include <barrier>
#include <thread>

#include "corpus.h"

constexpr int kThreads = 4;
static std::atomic<int> completed{0};

[[maybe_unused]] static void wait_inside(cudaStream_t stream) {
  const cudaError_t result = cudaStreamSynchronize(stream);  // EXPECT: host-sync error wait_inside
  if (result != cudaSuccess) std::printf("one session waits: %s\n", cudaGetErrorString(result));
}

static void session([[maybe_unused]] int index, cudaStream_t stream, int* x, std::barrier<>& together) {
  together.arrive_and_wait();
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  together.arrive_and_wait();  // all four are open
  add<<<1, 1, 0, stream>>>(x, 1);
#ifndef CLEAN
  if (index == 2) wait_inside(stream);
#endif
  together.arrive_and_wait();
  const cudaGraph_t graph = corpus::end_capture(stream);
  together.arrive_and_wait();
  if (!graph) return;
  corpus::replay(graph, stream, 3);
  ++completed;
}

int main() {
  cudaStream_t streams[kThreads];
  int* x = corpus::device_ints(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    streams[i] = corpus::new_stream();
    add<<<1, 1, 0, streams[i]>>>(x + i, 1);
  }
  CU(cudaDeviceSynchronize());

  std::barrier together(kThreads);
  std::vector<std::thread> sessions;
  for (int i = 0; i < kThreads; ++i) sessions.emplace_back(session, i, streams[i], x + i, std::ref(together));
  for (std::thread& thread : sessions) thread.join();
  const std::vector<int> meant = corpus::kClean ? std::vector<int>{4, 4, 4, 4} : std::vector<int>{4, 4, 1, 4};
  return corpus::saw(corpus::read_back(x, kThreads) == meant && completed == (corpus::kClean ? 4 : 3),
                     "each session got what its own capture gave it");
}
