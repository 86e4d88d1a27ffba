// Whose memory a captured kernel is given: a pool's that is handed back, a class's member.
#include <cuda_runtime.h>

#include <vector>

__global__ void kernel(float* p) {
  p[0] = 1;
}

class Pool {
 public:
  float* take() {
    float* p = free_.back();
    free_.pop_back();
    return p;
  }
  void give(float* p) { free_.push_back(p); }

 private:
  std::vector<float*> free_;
};

class Scratch {
 public:
  explicit Scratch(Pool& pool) : pool_(pool), data_(pool.take()) {}
  ~Scratch() { pool_.give(data_); }
  float* data() { return data_; }

 private:
  Pool& pool_;
  float* data_;
};

static void pooled(Pool& pool, cudaStream_t s) {
  Scratch scratch(pool);
  kernel<<<1, 1, 0, s>>>(scratch.data());  // EXPECT: local-scratch:warning
}
// The constructor says what the member points to, whoever makes the object.
class Sampler {
 public:
  Sampler() { cudaMallocManaged(&next_, 4); }
  void step(cudaStream_t s) {
    cudaGraph_t graph;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    kernel<<<1, 1, 0, s>>>(next_);
    if (*next_ > 0) kernel<<<1, 1, 0, s>>>(next_);  // EXPECT: host-branch
    kernel<<<1, 1, 0, s>>>(lent_);
    if (*lent_ > 0) kernel<<<1, 1, 0, s>>>(lent_);  // CLEAN: host-branch
    cudaStreamEndCapture(s, &graph);
  }
  void lend(float* p) { lent_ = p; }

 private:
  float* next_ = nullptr;
  float* lent_ = nullptr;
};

void captured(Pool& pool, cudaStream_t s) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  pooled(pool, s);
  cudaStreamEndCapture(s, &graph);
}
