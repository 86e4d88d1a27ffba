// Code behind a guard that it closes itself runs in a warm-up and in no later step: worth a note. Code that
// merely asks about state runs whenever the state says so.
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <map>
#include <memory>
#include <vector>

struct Scratch {
  void* block = nullptr;
  size_t bytes = 0;
  bool ready = false, debug = false;
  int step = 0;
  cublasHandle_t handle = nullptr;
  std::map<int, void*> tables;
  std::vector<void*> pools;

  void lazily() {
    if (!block) cudaMalloc(&block, 64);  // EXPECT: device-alloc:note
  }
  void lazily_after_return() {
    if (ready) return;
    cudaDeviceSynchronize();  // EXPECT: host-sync:note
    ready = true;
  }
  void grow(size_t wanted) {
    cudaFree(block);             // EXPECT: device-alloc:note
    cudaMalloc(&block, wanted);  // EXPECT: device-alloc:note
    bytes = wanted;
  }
  void at_least(size_t wanted) {
    if (wanted > bytes) grow(wanted);
  }
  void or_other(size_t wanted) {
    if (block == nullptr || bytes < wanted) {
      cudaMalloc(&block, wanted);  // EXPECT: device-alloc:note
      bytes = wanted;
    }
  }
  void handles() {
    if (!handle) cublasCreate(&handle);  // EXPECT: device-alloc:note
  }
  void keyed(int key) {
    if (tables.find(key) == tables.end()) {
      void* table = nullptr;
      cudaMalloc(&table, 64);  // EXPECT: device-alloc:note
      tables[key] = table;
    }
    if (pools.empty()) {
      void* pool = nullptr;
      cudaMalloc(&pool, 64);  // EXPECT: device-alloc:note
      pools.push_back(pool);
    }
  }

  // None of these closes its guard.
  void switched(cudaStream_t stream) {
    if (debug) cudaStreamSynchronize(stream);  // EXPECT: host-sync:warning
    if (!debug) cudaDeviceSynchronize();       // EXPECT: host-sync:warning
  }
  void counted() {
    if (step >= 100) return;
    cudaDeviceSynchronize();  // EXPECT: host-sync
    ++step;
  }
  void every_time() {
    if (!block) return;
    cudaFree(block);            // EXPECT: device-alloc
    cudaMalloc(&block, bytes);  // EXPECT: device-alloc
  }
  // This one does: a later step of that size does not wait.
  void waits_to_grow(size_t wanted) {
    if (wanted > bytes) {
      cudaDeviceSynchronize();  // EXPECT: host-sync:note
      bytes = wanted;
    }
  }
  void anew() {
    cublasCreate(&handle);  // EXPECT: device-alloc
  }
};

void capture(Scratch& scratch, size_t wanted, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  scratch.lazily();
  scratch.lazily_after_return();
  scratch.at_least(wanted);
  scratch.or_other(wanted);
  scratch.handles();
  scratch.keyed(3);
  scratch.switched(stream);
  scratch.counted();
  scratch.every_time();
  scratch.waits_to_grow(wanted);
  scratch.anew();
  cudaStreamEndCapture(stream, &graph);
}
