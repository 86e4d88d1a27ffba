// Guards that an optional or a smart pointer holds, or that one of two expressions makes: the capture ends
// where they do.
#include <cuda_runtime.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

struct Capture {
  explicit Capture(cudaStream_t s) : stream(s) {
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  }
  ~Capture() { cudaStreamEndCapture(stream, &graph); }
  cudaStream_t stream;
  cudaGraph_t graph = nullptr;
};

void optional(cudaStream_t stream) {
  {
    std::optional<Capture> capture;
    cudaStreamSynchronize(stream);  // CLEAN: host-sync
    capture.emplace(stream);
    cudaStreamSynchronize(stream);  // EXPECT: host-sync
  }
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}

void optional_by_choice(cudaStream_t stream, bool graph) {
  {
    std::optional<Capture> capture;
    if (graph) capture.emplace(stream);
    cudaStreamSynchronize(stream);  // EXPECT: host-sync
  }
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}

void optional_reset(cudaStream_t stream) {
  std::optional<Capture> capture;
  capture.emplace(stream);
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
  capture.reset();
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}

void unique(cudaStream_t stream) {
  {
    auto capture = std::make_unique<Capture>(stream);
    cudaStreamSynchronize(stream);  // EXPECT: host-sync
  }
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}

void unique_of_new(cudaStream_t stream) {
  {
    std::unique_ptr<Capture> capture(new Capture(stream));
    Capture& seen = *capture;
    cudaStreamSynchronize(seen.stream);  // EXPECT: host-sync
  }
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}

void unique_reset(cudaStream_t stream) {
  std::unique_ptr<Capture> capture;
  capture = std::make_unique<Capture>(stream);
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
  capture = nullptr;
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
  capture.reset(new Capture(stream));
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
  capture.reset();
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}

void shared(cudaStream_t stream) {
  {
    auto capture = std::make_shared<Capture>(stream);
    auto other = capture;
    cudaStreamSynchronize(stream);  // EXPECT: host-sync
  }
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}

// Handed on: it lives where it is kept.
std::unique_ptr<Capture> started(cudaStream_t stream) {
  auto capture = std::make_unique<Capture>(stream);
  return capture;
}
void handed_on(cudaStream_t stream) {
  {
    auto capture = started(stream);
    cudaStreamSynchronize(stream);  // EXPECT: host-sync
  }
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}

struct Step {
  void begin(cudaStream_t stream) { capture_ = std::make_unique<Capture>(stream); }
  void end() { capture_.reset(); }
  std::unique_ptr<Capture> capture_;
};
void member(cudaStream_t stream) {
  Step step;
  step.begin(stream);
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
  step.end();
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}
void member_with_its_object(cudaStream_t stream) {
  {
    Step step;
    step.begin(stream);
    cudaStreamSynchronize(stream);  // EXPECT: host-sync
  }
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}

// One of two, a guard that runs what it was given.
class Guard {
 public:
  Guard() = default;
  explicit Guard(std::function<void()> end) : end_(std::move(end)) {}
  Guard(Guard&& other) { std::swap(end_, other.end_); }
  Guard(const Guard&) = delete;
  ~Guard() {
    if (end_) end_();
  }

 private:
  std::function<void()> end_;
};

struct Graph {
  Guard capture(cudaStream_t stream) {
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    return Guard{[this, stream]() { cudaStreamEndCapture(stream, &graph); }};
  }
  cudaGraph_t graph = nullptr;
};

void one_of_two(cudaStream_t stream, int step) {
  Graph graph;
  {
    auto guard = step == 0 ? Guard{} : graph.capture(stream);
    cudaStreamSynchronize(stream);  // EXPECT: host-sync
  }
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}
void the_other_of_two(cudaStream_t stream, int step) {
  Graph graph;
  {
    auto guard = step != 0 ? graph.capture(stream) : Guard{};
    cudaStreamSynchronize(stream);  // EXPECT: host-sync
  }
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}
