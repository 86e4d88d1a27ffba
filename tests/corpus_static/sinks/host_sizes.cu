// device-sized: sizes that the host knows, however close a device value stands.
#include <capgate/capgate.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

__global__ void work(float* p, int n);
void act() {}
static float table[64];

struct Batch {
  int rows = 0;      // the host's
  int accepted = 0;  // comes back from the device
};

// The count goes to the kernel as a pointer, as an argument, or nowhere.
CAPGATE_REGION void passed_on(float* d, int* pinned, const int* count, cudaStream_t s) {
  cudaMemcpyAsync(pinned, count, 4, cudaMemcpyDeviceToHost, s);
  work<<<64, 128, 0, s>>>(d, *pinned);                             // CLEAN: device-sized, an argument
  work<<<64, 128, 0, s>>>(d, pinned[0] * 2);                       // CLEAN: device-sized, an argument
  cudaMemsetAsync(d, pinned[0], 64, s);                            // CLEAN: device-sized, the byte and no size
  cudaMemcpyAsync(d, pinned, sizeof *pinned, cudaMemcpyHostToDevice, s);  // CLEAN: device-sized
  std::vector<int> history(4);
  history[0] = pinned[0];                                          // CLEAN: device-sized
  history.push_back(*pinned);                                      // CLEAN: device-sized
  std::vector<int> list(4, *pinned);                               // CLEAN: device-sized, the value and no size
  std::fill(history.begin(), history.end(), *pinned);              // CLEAN: device-sized
}

CAPGATE_REGION void fields(Batch& batch, const int* d_accepted, float* d, cudaStream_t s) {
  cudaMemcpyAsync(&batch.accepted, d_accepted, 4, cudaMemcpyDeviceToHost, s);  // CLEAN: pageable-copy, whose memory it is nobody knows
  work<<<batch.rows, 128, 0, s>>>(d, 1);                 // CLEAN: device-sized, another field
  for (int i = 0; i < batch.rows; ++i) act();            // CLEAN: device-sized, another field
  work<<<batch.accepted, 128, 0, s>>>(d, 1);             // EXPECT: device-sized
  batch.accepted = batch.rows;
  work<<<batch.accepted, 128, 0, s>>>(d, 1);             // CLEAN: device-sized, overwritten by the host
}

CAPGATE_REGION void overwritten(float* d, int* pinned, const int* count, int most, cudaStream_t s) {
  cudaMemcpyAsync(pinned, count, 4, cudaMemcpyDeviceToHost, s);
  pinned[0] = most;
  work<<<pinned[0], 128, 0, s>>>(d, most);               // CLEAN: device-sized
  for (int i = 0; i < pinned[0]; ++i) act();             // CLEAN: device-sized
  std::vector<float> room(static_cast<size_t>(pinned[0]));  // CLEAN: device-sized
  room.resize(static_cast<size_t>(pinned[0]) * 2);       // CLEAN: device-sized
  room[static_cast<size_t>(pinned[0])] = table[pinned[0]];  // CLEAN: device-sized
}

// Lengths, capacities, positions and shapes are kept by the host.
CAPGATE_REGION void of_containers(std::vector<float>& h, const float* d, float* out, cudaStream_t s) {
  cudaMemcpyAsync(h.data(), d, h.size() * 4, cudaMemcpyDeviceToHost, s);    // EXPECT: pageable-copy // CLEAN: device-sized
  work<<<static_cast<unsigned>(h.size()), 128, 0, s>>>(out, 1);             // CLEAN: device-sized
  for (size_t i = 0; i < h.size(); ++i) act();                              // CLEAN: device-sized
  for (float value : h) table[0] = value;                                   // CLEAN: device-sized
  std::vector<float> copy(h.size());                                        // CLEAN: device-sized
  copy.reserve(h.capacity());                                               // CLEAN: device-sized
  std::array<float, 4> fixed = {h[0]};
  work<<<static_cast<unsigned>(fixed.size()), 128, 0, s>>>(out, 1);         // CLEAN: device-sized
}

CAPGATE_REGION void of_the_machine(float* d, cudaStream_t s) {
  int device = 0, units = 0, blocks = 0, least = 0, block = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, work, 128, 0);
  cudaOccupancyMaxPotentialBlockSize(&least, &block, work, 0, 0);
  work<<<units * blocks, 128, 0, s>>>(d, 1);  // CLEAN: device-sized
  work<<<least, block, 0, s>>>(d, 1);         // CLEAN: device-sized
  for (int i = 0; i < units; ++i) act();      // CLEAN: device-sized
}

// The value of one round decides nothing; the rounds are counted by the host.
CAPGATE_REGION void rounds(float* d, int* pinned, const int* count, int n, cudaStream_t s) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {  // CLEAN: device-sized
    cudaMemcpyAsync(pinned + i, count + i, 4, cudaMemcpyDeviceToHost, s);
    sum += pinned[i];
  }
  work<<<n, 128, 0, s>>>(d + n, sum);  // CLEAN: device-sized
}

// Speaks of another variable of the name.
CAPGATE_REGION void shadowed(float* d, int* pinned, const int* count, int n, cudaStream_t s) {
  cudaMemcpyAsync(pinned, count, 4, cudaMemcpyDeviceToHost, s);
  const int rows = *pinned;
  {
    const int rows = n;
    work<<<rows, 128, 0, s>>>(d, 1);  // CLEAN: device-sized
  }
  work<<<rows, 128, 0, s>>>(d, 1);    // EXPECT: device-sized
}

// Sizes in a kernel, and the same sizes outside of every region.
__global__ void on_the_device(float* p, const int* count) {
  for (int i = 0; i < *count; ++i) p[i] = 0;  // CLEAN: device-sized
}
CAPGATE_REGION void launched(float* d, const int* count, cudaStream_t s) {
  on_the_device<<<64, 1, 0, s>>>(d, count);   // CLEAN: device-sized
}
void outside(float* d, int* pinned, const int* count, cudaStream_t s) {
  cudaMemcpyAsync(pinned, count, 4, cudaMemcpyDeviceToHost, s);
  cudaStreamSynchronize(s);                   // CLEAN: host-sync
  work<<<*pinned, 128, 0, s>>>(d, 1);         // CLEAN: device-sized
  for (int i = 0; i < *pinned; ++i) act();    // CLEAN: device-sized
  void* room = std::malloc(*pinned);          // CLEAN: device-sized
  std::free(room);
}
