// pageable-copy, host-pointer, device-alloc, host-alloc, local-scratch.
#include <capgate/capgate.h>
#include <cuda_runtime.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

__global__ void work(const float* p, float* out);

CAPGATE_REGION void pageable(float* d, float scalar, cudaStream_t s) {
  int params[8] = {};
  cudaMemcpyAsync(d, params, sizeof params, cudaMemcpyHostToDevice, s);  // EXPECT: pageable-copy
  cudaMemcpyAsync(d, &scalar, 4, cudaMemcpyHostToDevice, s);             // EXPECT: pageable-copy
  std::vector<float> table(64, 1.f);
  cudaMemcpyAsync(d, table.data(), 256, cudaMemcpyHostToDevice, s);      // EXPECT: pageable-copy
  cudaMemcpyAsync(table.data(), d, 256, cudaMemcpyDeviceToHost, s);      // EXPECT: pageable-copy
  cudaMemcpyAsync(d, &table[3], 4, cudaMemcpyDefault, s);                // EXPECT: pageable-copy
  cudaMemcpyAsync(d, std::vector<float>(4, 2.f).data(), 16, cudaMemcpyHostToDevice, s);  // EXPECT: pageable-copy
  float* heap = static_cast<float*>(std::malloc(64));
  cudaMemcpyAsync(d, heap, 64, cudaMemcpyHostToDevice, s);               // EXPECT: pageable-copy
  auto owned = std::make_unique<float[]>(16);
  cudaMemcpyAsync(d, owned.get(), 64, cudaMemcpyHostToDevice, s);        // EXPECT: pageable-copy
  std::free(heap);
}

static void upload(float* d, const void* from, size_t bytes, cudaStream_t s) {
  cudaMemcpyAsync(d, from, bytes, cudaMemcpyHostToDevice, s);  // EXPECT: pageable-copy
}

CAPGATE_REGION void through_a_wrapper(float* d, const float* unknown, cudaStream_t s) {
  float local[4] = {};
  upload(d, local, sizeof local, s);
  upload(d, unknown, 16, s);
}

class Model {
 public:
  Model() {
    cudaMallocHost(&pinned_, 64);  // CLEAN: host-alloc
    cudaHostAlloc(&flags_, 64, cudaHostAllocDefault);  // CLEAN: host-alloc
    cudaMalloc(&device_, 64);  // CLEAN: device-alloc
    cudaHostRegister(list_.data(), 64, 0);  // CLEAN: host-alloc
  }
  void capture(cudaStream_t s) {
    cudaGraph_t g;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(device_, pinned_, 64, cudaMemcpyHostToDevice, s);  // CLEAN: pageable-copy
    cudaMemcpyAsync(flags_, device_, 64, cudaMemcpyDeviceToHost, s);  // CLEAN: pageable-copy
    work<<<1, 1, 0, s>>>(device_, device_);
    cudaStreamEndCapture(s, &g);
  }

 private:
  float* pinned_ = nullptr;
  float* flags_ = nullptr;
  float* device_ = nullptr;
  std::vector<float> list_{1.f, 2.f};
};

void pinned_is_fine(cudaStream_t s) {
  Model m;
  m.capture(s);
  float* pinned;
  cudaMallocHost(&pinned, 64);  // CLEAN: host-alloc
  std::vector<float> registered(16);
  cudaHostRegister(registered.data(), 64, cudaHostRegisterDefault);  // CLEAN: host-alloc
  float* d;
  cudaMalloc(&d, 64);  // CLEAN: device-alloc
  cudaGraph_t g;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaMemcpyAsync(d, pinned, 64, cudaMemcpyHostToDevice, s);  // CLEAN: pageable-copy
  cudaMemcpyAsync(d, registered.data(), 64, cudaMemcpyHostToDevice, s);  // CLEAN: pageable-copy
  cudaStreamEndCapture(s, &g);
}

CAPGATE_REGION void unknown_pointers_are_silent(float* d, const float* h, const std::vector<float*>& list,
                                                cudaStream_t s) {
  cudaMemcpyAsync(d, h, 4, cudaMemcpyHostToDevice, s);  // CLEAN: pageable-copy
  cudaMemcpyAsync(d, list[0], 4, cudaMemcpyHostToDevice, s);  // CLEAN: pageable-copy
}

void outside(float* d, cudaStream_t s) {
  float local[4] = {};
  cudaMemcpyAsync(d, local, sizeof local, cudaMemcpyHostToDevice, s);  // CLEAN: pageable-copy
}

void copy_nodes(cudaGraph_t g, float* d, const float* pinned) {
  capgate_region_begin("build");
  cudaGraphNode_t n;
  float local[4] = {};
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, local, 16, cudaMemcpyHostToDevice);  // EXPECT: host-pointer
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, pinned, 16, cudaMemcpyHostToDevice);  // CLEAN: host-pointer
  capgate_region_end();
}

CAPGATE_REGION void allocations(cudaStream_t s) {
  void *a, *b, *c, *p;
  cudaMalloc(&a, 64);              // EXPECT: device-alloc
  cudaFree(a);                     // EXPECT: device-alloc
  cudaMallocHost(&p, 64);          // EXPECT: host-alloc
  cudaFreeHost(p);                 // EXPECT: host-alloc
  cudaHostRegister(&b, 8, 0);      // EXPECT: host-alloc
  cudaMallocAsync(&c, 64, s);  // CLEAN: device-alloc
  cudaFreeAsync(c, s);  // CLEAN: device-alloc
  std::vector<int> host(64);  // CLEAN: host-alloc
  std::unique_ptr<int> one(new int(3));
}

class DeviceBuffer {
 public:
  explicit DeviceBuffer(size_t n) { cudaMalloc(&data_, n); }  // EXPECT: device-alloc
  ~DeviceBuffer() { cudaFree(data_); }                        // EXPECT: device-alloc
  float* data() { return data_; }

 private:
  float* data_ = nullptr;
};

class StreamBuffer {
 public:
  StreamBuffer(size_t n, cudaStream_t s) : stream_(s) { cudaMallocAsync(&data_, n, s); }  // CLEAN: device-alloc
  ~StreamBuffer() { cudaFreeAsync(data_, stream_); }  // CLEAN: device-alloc
  float* data() { return data_; }

 private:
  float* data_ = nullptr;
  cudaStream_t stream_;
};

struct Pool {
  float* take(size_t n);
  void put(float* p);
};

class PooledBuffer {
 public:
  PooledBuffer(Pool& pool, size_t n) : pool_(pool), data_(pool.take(n)) {}  // EXPECT: not-analysed
  ~PooledBuffer() { pool_.put(data_); }  // EXPECT: not-analysed
  float* data() { return data_; }

 private:
  Pool& pool_;
  float* data_;
};

CAPGATE_REGION void scratch(Pool& pool, const float* x, DeviceBuffer& kept, cudaStream_t s) {
  DeviceBuffer own(64);
  work<<<1, 1, 0, s>>>(x, own.data());  // EXPECT: local-scratch
  PooledBuffer pooled(pool, 64);
  work<<<2, 1, 0, s>>>(x, pooled.data());  // EXPECT: local-scratch:warning
  StreamBuffer in_graph(64, s);
  work<<<3, 1, 0, s>>>(x, in_graph.data());  // CLEAN: local-scratch
  work<<<4, 1, 0, s>>>(x, kept.data());  // CLEAN: local-scratch
  float host[4] = {};
  work<<<5, 1, 0, s>>>(host, kept.data());  // EXPECT: local-scratch
}

void outlives_the_graph(const float* x, cudaStream_t s) {
  DeviceBuffer own(64);
  cudaGraph_t g;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  work<<<1, 1, 0, s>>>(x, own.data());  // CLEAN: local-scratch
  cudaStreamEndCapture(s, &g);
  cudaGraphInstantiate(&exec, g, 0);
  cudaGraphLaunch(exec, s);
  cudaStreamSynchronize(s);  // CLEAN: host-sync
}
