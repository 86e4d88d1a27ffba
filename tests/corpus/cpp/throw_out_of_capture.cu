// A table of tuned launch sizes has no entry for this batch: the look-up throws, the capture's guard ends it
// on the way out, and the program decodes eagerly. The clean twin catches inside and launches with a size
// that always works.
// Public fault: the class of vllm-project/vllm#18153.
#include <map>
#include <stdexcept>

#include "corpus.h"

namespace {

const std::map<int, int> kTuned = {{1, 32}, {8, 64}};

// Ends its capture whatever happens.
class CaptureScope {
 public:
  explicit CaptureScope(cudaStream_t stream) : stream_(stream) {
    CU(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
  }
  ~CaptureScope() {
    if (!graph_) graph_ = corpus::end_capture(stream_);
  }
  cudaGraph_t end() { return graph_ = corpus::end_capture(stream_); }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
};

int tuned_threads(int batch) {
  return kTuned.at(batch);  // EXPECT: capture-invalidated error tuned_threads
}

int threads_for(int batch) {
  if (!corpus::kClean) return tuned_threads(batch);
  try {
    return tuned_threads(batch);
  } catch (const std::out_of_range&) {
    return 1;
  }
}

void step(int* x, int batch, cudaStream_t stream) {
  add<<<1, 1, 0, stream>>>(x, 1);
  add<<<1, (threads_for(batch) > 0 ? 1 : 0), 0, stream>>>(x, 1);
}

cudaGraph_t captured(int* x, int batch, cudaStream_t stream) {
  CaptureScope capture(stream);
  step(x, batch, stream);
  return capture.end();
}

}  // namespace

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  cudaGraph_t graph = nullptr;
  try {
    graph = captured(x, 3, stream);
  } catch (const std::out_of_range& error) {
    std::printf("decoding eagerly: %s\n", error.what());
  }
  if (graph) corpus::replay(graph, stream, 3);
  return corpus::capture_dies(graph, corpus::read_one(x) == 6);
}
