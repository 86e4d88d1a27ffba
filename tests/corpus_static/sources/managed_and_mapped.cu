// Memory that both sides see holds device values once a kernel may have written it.
#include <capgate/capgate.h>
#include <cuda_runtime.h>

__global__ void write(int* p);
__global__ void read(const int* p);
__managed__ int flag;
void act() {}

CAPGATE_REGION void managed(cudaStream_t s) {
  int* m;
  cudaMallocManaged(&m, 4);  // EXPECT: device-alloc
  m[0] = 3;
  if (m[0]) act();  // CLEAN: host-branch
  write<<<1, 1, 0, s>>>(m);
  if (m[0]) act();  // EXPECT: host-branch
}

struct Buffers {
  int* shared;
  int* host;
};

void run(Buffers& b, cudaStream_t s) {
  cudaMallocManaged(&b.shared, 64);  // CLEAN: device-alloc
  cudaMallocHost(&b.host, 64);  // CLEAN: host-alloc
  cudaGraph_t g;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  if (b.shared[0]) act();  // CLEAN: host-branch
  write<<<1, 1, 0, s>>>(b.shared);
  if (b.shared[0]) act();  // EXPECT: host-branch
  if (b.host[0]) act();  // CLEAN: host-branch
  read<<<1, 1, 0, s>>>(b.host);
  if (b.host[0]) act();  // CLEAN: host-branch
  cudaStreamEndCapture(s, &g);
}

void mapped(cudaStream_t s) {
  int *h, *d;
  cudaHostAlloc(&h, 64, cudaHostAllocMapped);  // CLEAN: host-alloc
  cudaHostGetDevicePointer(&d, h, 0);
  cudaGraph_t g;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  write<<<1, 1, 0, s>>>(d);
  for (int i = 0; i < h[0]; ++i) act();  // EXPECT: device-sized
  cudaStreamEndCapture(s, &g);
}

CAPGATE_REGION void managed_variable(cudaStream_t s) {
  write<<<1, 1, 0, s>>>(&flag);
  if (flag) act();  // EXPECT: host-branch
}

CAPGATE_REGION void written_by_the_host_again(int* p, cudaStream_t s) {
  write<<<1, 1, 0, s>>>(&flag);
  flag = 0;
  if (flag) act();  // CLEAN: host-branch
}

// A kernel that only reads what it is given, and one that writes.
__device__ int pick(int* from, int i) { return from[i]; }
__device__ void put(int* to, int v) { to[0] = v; }
__global__ void reads_only(int* p, int* out) { out[threadIdx.x] = p[0] + pick(p, 3); }
__global__ void writes_by_a_helper(int* p) { put(p + 1, 2); }
__global__ void writes_by_atomics(int* p) { atomicAdd(&p[1], 2); }

CAPGATE_REGION void read_by_the_device(int* out, cudaStream_t s) {
  int* m;
  cudaMallocManaged(&m, 64);  // EXPECT: device-alloc
  m[0] = 1;
  reads_only<<<1, 1, 0, s>>>(m, out);
  if (m[0]) act();  // CLEAN: host-branch
  writes_by_a_helper<<<1, 1, 0, s>>>(m);
  if (m[0]) act();  // EXPECT: host-branch
  m[0] = 1;
  if (m[0]) act();  // CLEAN: host-branch
  writes_by_atomics<<<1, 1, 0, s>>>(m);
  if (m[0]) act();  // EXPECT: host-branch
}
