// CLEAN but for the copies: what looks like a device value and is none.
#include <capgate/capgate.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

void act() {}
__global__ void work(int* p, int n);
__device__ int device_counter;

#define CHECK(call)                                                              \
  do {                                                                           \
    cudaError_t err_ = (call);                                                   \
    if (err_ != cudaSuccess) {                                                   \
      std::fprintf(stderr, "%s at %s:%d\n", cudaGetErrorString(err_), __FILE__, __LINE__); \
      std::exit(1);                                                              \
    }                                                                            \
  } while (0)

CAPGATE_REGION cudaError_t error_codes(int* h, int* d, cudaStream_t s) {
  CHECK(cudaMemcpyAsync(h, d, 4, cudaMemcpyDeviceToHost, s));
  cudaError_t e = cudaMemcpyAsync(h, d, 4, cudaMemcpyDeviceToHost, s);
  if (e != cudaSuccess) return e;  // CLEAN: host-branch
  if (cudaMemcpyAsync(h, d, 4, cudaMemcpyDeviceToHost, s)) throw std::runtime_error("copy");  // CLEAN: host-branch
  const bool ok = e == cudaSuccess;
  if (!ok) act();  // CLEAN: host-branch
  return cudaGetLastError();
}

CAPGATE_REGION void overwritten(int* h, int* d, int n, cudaStream_t s) {
  cudaMemcpyAsync(h, d, 4, cudaMemcpyDeviceToHost, s);
  h[0] = n;
  if (h[0]) act();  // CLEAN: host-branch, overwritten by the host
  cudaMemcpyAsync(h, d, 64, cudaMemcpyDeviceToHost, s);
  std::memset(h, 0, 64);
  if (h[3]) act();  // CLEAN: host-branch
  cudaMemcpyAsync(h, d, 64, cudaMemcpyDeviceToHost, s);
  for (int i = 0; i < n; ++i) h[i] = i;  // CLEAN: device-sized
  if (h[n - 1]) act();  // CLEAN: host-branch
  int mine[16] = {1, 2, 3};
  cudaMemcpyAsync(h, d, 64, cudaMemcpyDeviceToHost, s);
  std::memcpy(h, mine, sizeof mine);
  if (h[2]) act();  // CLEAN: host-branch
}

CAPGATE_REGION void overwritten_in_a_struct(int* d, int n, cudaStream_t s);

struct Slot {
  int* device;
  int* host;
  int bytes;
};

CAPGATE_REGION void descriptions(Slot* slots, int n, cudaStream_t s) {
  for (int i = 0; i < n; ++i) {
    cudaMemcpyAsync(slots[i].host, slots[i].device, slots[i].bytes, cudaMemcpyDeviceToHost, s);
    if (slots[i].bytes > 64) act();  // CLEAN: host-branch
    if (slots[i].host == nullptr) act();  // CLEAN: host-branch
    if (slots[i].device) act();  // CLEAN: host-branch
  }
}

CAPGATE_REGION void host_mirror(int* h, int* d, int* position, cudaStream_t s) {
  ++*position;
  *h = *position;
  cudaMemcpyAsync(d, h, 4, cudaMemcpyHostToDevice, s);
  if (*h > 100) act();  // CLEAN: host-branch
  if (*position > 100) act();  // CLEAN: host-branch
}

CAPGATE_REGION void shadowed(int* h, int* d, int n, cudaStream_t s) {
  cudaMemcpyAsync(h, d, 4, cudaMemcpyDeviceToHost, s);
  {
    int value = n;
    int* h = &value;
    if (*h) act();  // CLEAN: host-branch, another h
  }
}

CAPGATE_REGION void sizes_of_containers(const std::vector<int>& ids, int* h, int* d, cudaStream_t s) {
  std::vector<int> copy = ids;
  cudaMemcpyAsync(d, h, ids.size() * 4, cudaMemcpyHostToDevice, s);
  if (copy.size() > 4) act();  // CLEAN: host-branch
  for (size_t i = 0; i < ids.size(); ++i)  // CLEAN: device-sized
    if (ids[i] == 0) act();  // CLEAN: host-branch
}

__global__ void device_side(int* p) {
  if (p[threadIdx.x] > 0) p[threadIdx.x] = device_counter;  // CLEAN: host-branch, device code
  for (int i = 0; i < p[0]; ++i) p[i] = 0;  // CLEAN: device-sized
}

CAPGATE_REGION void pointers_are_the_hosts(int* h, int* d, cudaStream_t s) {
  cudaMemcpyAsync(h, d, 4, cudaMemcpyDeviceToHost, s);
  if (h) act();  // CLEAN: host-branch
  if (h != d) act();  // CLEAN: host-branch
  if (h + 4 < d) act();  // CLEAN: host-branch
}

CAPGATE_REGION void attributes(int device, cudaStream_t s) {
  int sms = 0;
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (sms > 100) act();  // CLEAN: host-branch
  int blocks = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, work, 128, 0);
  work<<<blocks * sms, 128, 0, s>>>(nullptr, blocks);  // CLEAN: device-sized
  cudaPointerAttributes a;
  cudaPointerGetAttributes(&a, nullptr);
  if (a.type == cudaMemoryTypeDevice) act();  // CLEAN: host-branch
}

CAPGATE_REGION void by_flag(int* h, int* d, bool up, cudaStream_t s) {
  cudaMemcpyAsync(up ? d : h, up ? h : d, 4, cudaMemcpyHostToDevice, s);
  if (h[0]) act();  // CLEAN: host-branch
}

void outside_regions(int* d, int n) {
  int h;
  cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);  // CLEAN: sync-copy
  if (h) act();  // CLEAN: host-branch
  cudaDeviceSynchronize();  // CLEAN: host-sync
  void* p;
  cudaMalloc(&p, n);  // CLEAN: device-alloc
  work<<<h, 1>>>(d, n);  // CLEAN: device-sized, default-stream
  cudaFree(p);  // CLEAN: device-alloc
}

template <int kMode>
void modes(int* h, int* d, cudaStream_t s) {
  if constexpr (kMode == 1) {
    cudaMemcpyAsync(h, d, 4, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);  // CLEAN: host-sync
    if (h[0]) act();  // CLEAN: host-branch
  } else {
    work<<<1, 1, 0, s>>>(d, kMode);
  }
}
CAPGATE_REGION void the_other_mode(int* h, int* d, cudaStream_t s) { modes<0>(h, d, s); }

static void step(int* h, int* d, cudaStream_t s, bool wait) {
  work<<<1, 1, 0, s>>>(d, 1);
  if (wait) {
    cudaMemcpyAsync(h, d, 4, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);  // CLEAN: host-sync
    if (h[0]) act();  // CLEAN: host-branch
  }
}
CAPGATE_REGION void captured_step(int* h, int* d, cudaStream_t s) { step(h, d, s, false); }
void eager_step(int* h, int* d, cudaStream_t s) { step(h, d, s, true); }
