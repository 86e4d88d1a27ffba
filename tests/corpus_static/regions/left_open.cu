// Captures that are open when a function returns. Where nothing in sight goes on with one, what it captures
// was not looked at, and the run must not read as clean.
#include <cuda_runtime.h>

#include <functional>
#include <memory>

__global__ void work() {}
constexpr cudaStreamCaptureMode kMode = cudaStreamCaptureModeGlobal;

// For callers in another language.
static cudaStream_t stream_of_others;
extern "C" void begin_capture() {
  cudaStreamBeginCapture(stream_of_others, cudaStreamCaptureModeGlobal);  // EXPECT: not-analysed
}
extern "C" void end_capture() {
  cudaGraph_t graph;
  cudaStreamEndCapture(stream_of_others, &graph);
}
extern "C" void wait_for_all() {
  cudaDeviceSynchronize();  // CLEAN: host-sync, no region in sight
}

// A class that nothing calls.
class Recorder {
 public:
  bool begin(cudaStream_t stream) {
    stream_ = stream;
    const auto begun = cudaStreamBeginCapture(stream, kMode);  // EXPECT: not-analysed
    return begun == cudaSuccess;
  }
  void end() { cudaStreamEndCapture(stream_, &graph_); }

 private:
  cudaStream_t stream_ = nullptr;
  cudaGraph_t graph_ = nullptr;
};

// A class of which both are called.
struct Used {
  void begin(cudaStream_t stream) {
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);  // CLEAN: host-sync, its caller ends it
  }
  void end(cudaStream_t stream) {
    cudaGraph_t graph;
    cudaStreamEndCapture(stream, &graph);
  }
};
void pairs(Used& used, cudaStream_t stream) {
  used.begin(stream);
  work<<<1, 1, 0, stream>>>();
  used.end(stream);
}

// What is called goes on, and its caller leaves it.
static void helper(cudaStream_t stream) {
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);  // EXPECT: not-analysed
}
void through_a_helper(cudaStream_t stream) {
  helper(stream);
  work<<<1, 1, 0, stream>>>();
}

// By dispatch.
struct Capturing {
  virtual void begin(cudaStream_t stream) = 0;
  virtual void end(cudaStream_t stream) = 0;
  virtual ~Capturing() = default;
};
struct ByRuntime : Capturing {
  void begin(cudaStream_t stream) override { cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal); }
  void end(cudaStream_t stream) override {
    cudaGraph_t graph;
    cudaStreamEndCapture(stream, &graph);
  }
};
void dispatched(Capturing& capturing, cudaStream_t stream) {
  capturing.begin(stream);
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
  capturing.end(stream);
}

// Guards end what their constructors begin, wherever they are used.
struct Guard {
  explicit Guard(cudaStream_t stream) : stream_(stream) {
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  }
  ~Guard() {
    cudaGraph_t graph;
    cudaStreamEndCapture(stream_, &graph);
  }
  cudaStream_t stream_;
};

// An early way out on failure, and a test that says later whether there is a capture, leave nothing open.
bool fails_early(cudaStream_t stream) {
  cudaGraph_t graph;
  if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) != cudaSuccess) return false;
  work<<<1, 1, 0, stream>>>();
  if (cudaGetLastError() != cudaSuccess) return false;
  return cudaStreamEndCapture(stream, &graph) == cudaSuccess;
}
void asked_twice(cudaStream_t stream, bool capture) {
  cudaGraph_t graph;
  if (capture) cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  work<<<1, 1, 0, stream>>>();
  if (capture) cudaStreamEndCapture(stream, &graph);
}
void caught(cudaStream_t stream, bool fails) {
  cudaGraph_t graph;
  try {
    cudaStreamBeginCapture(stream, kMode);
    if (fails) throw 1;
    cudaStreamEndCapture(stream, &graph);
  } catch (...) {
  }
}

// A way out on failure is no end for those that call it and succeed.
bool begin_or_not(cudaStream_t stream) {
  cudaGraph_t graph;
  if (cudaStreamBeginCapture(stream, kMode) != cudaSuccess) return false;  // EXPECT: not-analysed
  if (cudaGetLastError() != cudaSuccess) {
    cudaStreamEndCapture(stream, &graph);
    return false;
  }
  return true;
}

// The pattern of a template of which nothing is made.
template <class T>
void begin_for(T* owner) {
  cudaStreamBeginCapture(owner->stream, cudaStreamCaptureModeGlobal);  // EXPECT: not-analysed
}

// Its result, or what it prints, depends on whether the capture was begun.
extern "C" int begin_and_answer(cudaStream_t stream) {
  const cudaError_t begun = cudaStreamBeginCapture(stream, kMode);  // EXPECT: not-analysed
  return begun == cudaSuccess ? 0 : 1;
}
extern "C" int begin_in_a_mode(cudaStream_t stream, int mode) {
  cudaStreamCaptureMode chosen = kMode;
  switch (mode) {
    case 0:
      break;
    case 1:
      chosen = cudaStreamCaptureModeRelaxed;
      break;
    default:
      return 2;
  }
  const cudaError_t begun = cudaStreamBeginCapture(stream, chosen);  // EXPECT: not-analysed
  return begun == cudaSuccess ? 0 : 1;
}
void begin_and_print(cudaStream_t stream) {
  const bool begun = cudaStreamBeginCapture(stream, kMode) == cudaSuccess;
  const char* word = begun ? "begun" : "refused";
  (void)word;
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
  cudaStreamSynchronize(stream);  // CLEAN: host-sync, behind the end
}
static int begin_with_status(cudaStream_t stream) {
  return cudaStreamBeginCapture(stream, kMode) == cudaSuccess ? 0 : 1;
}
void asks_the_status(cudaStream_t stream) {
  if (begin_with_status(stream) != 0) {
    cudaStreamSynchronize(stream);  // CLEAN: host-sync, no capture was begun
    return;
  }
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
}
