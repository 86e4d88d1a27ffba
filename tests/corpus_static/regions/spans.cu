// Where a capture begins and ends.
#include <capgate/capgate.h>
#include <cuda.h>
#include <cuda_runtime.h>

#include <stdexcept>

__global__ void work(int* p);
void act() {}

void plain(cudaStream_t s) {
  cudaGraph_t g;
  cudaStreamSynchronize(s);  // CLEAN: host-sync
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaStreamSynchronize(s);  // EXPECT: host-sync
  cudaStreamEndCapture(s, &g);
  cudaStreamSynchronize(s);  // CLEAN: host-sync
}

void to_graph(cudaStream_t s, cudaGraph_t g) {
  cudaStreamBeginCaptureToGraph(s, g, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal);
  cudaDeviceSynchronize();  // EXPECT: host-sync
  cudaStreamEndCapture(s, &g);
}

void driver(CUstream s) {
  CUgraph g;
  cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL);
  cuCtxSynchronize();  // EXPECT: host-sync
  cuStreamEndCapture(s, &g);
  cuCtxSynchronize();  // CLEAN: host-sync
}

void conditional(cudaStream_t s, bool use_graph) {
  cudaGraph_t g;
  if (use_graph) cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaStreamSynchronize(s);  // EXPECT: host-sync
  if (use_graph) cudaStreamEndCapture(s, &g);
  cudaStreamSynchronize(s);  // CLEAN: host-sync
}

int early_exit(cudaStream_t s) {
  cudaGraph_t g;
  if (cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal) != cudaSuccess) {
    cudaStreamSynchronize(s);  // CLEAN: host-sync
    return 1;
  }
  work<<<1, 1, 0, s>>>(nullptr);
  if (cudaGetLastError() != cudaSuccess) {
    cudaStreamEndCapture(s, &g);
    cudaStreamSynchronize(s);  // CLEAN: host-sync
    return 1;
  }
  cudaStreamEndCapture(s, &g);
  return 0;
}

class Capture {
 public:
  explicit Capture(cudaStream_t s) : stream_(s) { cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal); }
  ~Capture() { cudaStreamEndCapture(stream_, &graph_); }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
};

void guard(cudaStream_t s) {
  {
    Capture c(s);
    cudaStreamSynchronize(s);  // EXPECT: host-sync
  }
  cudaStreamSynchronize(s);  // CLEAN: host-sync
}

template <class T>
class TypedCapture {
 public:
  explicit TypedCapture(T s) : stream_(s) { cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); }
  ~TypedCapture() { cudaStreamEndCapture(stream_, &graph_); }

 private:
  T stream_;
  cudaGraph_t graph_ = nullptr;
};

void typed_guard(cudaStream_t s) {
  {
    TypedCapture<cudaStream_t> c(s);
    cudaStreamQuery(s);  // EXPECT: host-poll
  }
  cudaStreamQuery(s);  // CLEAN: host-poll
}

class Recorder {
 public:
  void begin(cudaStream_t s) { cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); }
  void end(cudaStream_t s) { cudaStreamEndCapture(s, &graph_); }

 private:
  cudaGraph_t graph_ = nullptr;
};

static void wait(cudaStream_t s) {
  cudaStreamSynchronize(s);  // EXPECT: host-sync
}

void recorder(cudaStream_t s) {
  Recorder r;
  wait(s);
  r.begin(s);
  wait(s);
  r.end(s);
  wait(s);
}

template <class F>
void capture(cudaStream_t s, F&& body) {
  cudaGraph_t g;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  body();
  cudaStreamEndCapture(s, &g);
}

void by_callback(cudaStream_t s) {
  capture(s, [&] {
    cudaStreamSynchronize(s);  // EXPECT: host-sync
  });
  auto later = [&] { cudaStreamSynchronize(s); };  // CLEAN: host-sync
  later();
}

void in_a_loop(cudaStream_t s, int n) {
  cudaGraph_t g[8];
  for (int i = 0; i < n; ++i) {
    cudaStreamSynchronize(s);  // CLEAN: host-sync
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    work<<<1, 1, 0, s>>>(nullptr);
    cudaStreamEndCapture(s, &g[i]);
    cudaStreamSynchronize(s);  // CLEAN: host-sync
  }
}

CAPGATE_REGION void annotated(cudaStream_t s) {
  cudaStreamSynchronize(s);  // EXPECT: host-sync
}

void marked(cudaStream_t s) {
  capgate_region_begin("decode");
  cudaStreamSynchronize(s);  // EXPECT: host-sync
  work<<<1, 1>>>(nullptr);  // CLEAN: default-stream
  capgate_region_end();
  cudaStreamSynchronize(s);  // CLEAN: host-sync
}

void marked_scope(cudaStream_t s) {
  {
    capgate::region r("decode");
    cudaStreamSynchronize(s);  // EXPECT: host-sync
  }
  cudaStreamSynchronize(s);  // CLEAN: host-sync
}

CAPGATE_REGION void eager_break(cudaStream_t s) {
  capgate_eager_break_begin("moe");
  cudaStreamSynchronize(s);  // EXPECT: host-sync:note
  work<<<1, 1>>>(nullptr);  // CLEAN: default-stream
  capgate_eager_break_end();
  cudaStreamSynchronize(s);  // EXPECT: host-sync
}

// A stored callback that is known here.
#include <functional>
class Runner {
 public:
  void run(cudaStream_t s, std::function<void(cudaStream_t)> body) {
    cudaGraph_t g;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    body(s);
    cudaStreamEndCapture(s, &g);
  }
};

void stored_callback(cudaStream_t s) {
  Runner r;
  r.run(s, [](cudaStream_t q) {
    cudaStreamSynchronize(q);  // EXPECT: host-sync
  });
}

CAPGATE_REGION void allowed(cudaStream_t s) {
  capgate_allow_begin("host-sync", "the sampler reads one token");
  cudaStreamSynchronize(s);  // EXPECT: host-sync:allowed
  cudaStreamQuery(s);        // EXPECT: host-poll
  capgate_allow_end();
  cudaStreamSynchronize(s);  // EXPECT: host-sync
  {
    const capgate::allow scope("host-poll", "a watchdog");
    cudaStreamQuery(s);  // EXPECT: host-poll:allowed
  }
  cudaStreamQuery(s);  // EXPECT: host-poll
}

// One of two: neither may be taken for the other.
static void first_choice(cudaStream_t s) { work<<<1, 1, 0, s>>>(nullptr); }
CAPGATE_REGION void by_pointer(cudaStream_t s) {
  void (*f)(cudaStream_t) = first_choice;
  f(s);
}
