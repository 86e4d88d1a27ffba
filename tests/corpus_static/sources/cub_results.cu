// CUB: what it computes lies on the device; how much room it wants is the host's to know.
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>

#include <capgate/capgate.h>

void act() {}

struct positive {
  __host__ __device__ bool operator()(int x) const { return x > 0; }
};

struct workspace {
  void* memory = nullptr;
  size_t bytes = 0;
};

// The query for the room: CUB touches nothing when the room is null.
CAPGATE_REGION cudaError_t asks_for_room(workspace& room, const int* in, int* out, int n, cudaStream_t s) {
  size_t bytes = 0;
  cub::DeviceReduce::Sum(nullptr, bytes, in, out, n, s);
  if (bytes > room.bytes) return cudaErrorMemoryAllocation;  // CLEAN: host-branch
  return cub::DeviceReduce::Sum(room.memory, bytes, in, out, n, s);  // CLEAN: default-stream
}

CAPGATE_REGION void allocates_room(const int* in, int* out, int n, cudaStream_t s) {
  size_t bytes = 0;
  void* room = nullptr;
  cub::DeviceReduce::Sum(room, bytes, in, out, n, s);
  cudaMalloc(&room, bytes);  // EXPECT: device-alloc
  if (cub::DeviceReduce::Sum(room, bytes, in, out, n, s) != cudaSuccess) act();  // CLEAN: host-branch
  cudaFree(room);            // EXPECT: device-alloc
}

CAPGATE_REGION void reads_the_sum(workspace& room, const int* in, int* out, int* pinned, int n, cudaStream_t s) {
  cub::DeviceReduce::Sum(room.memory, room.bytes, in, out, n, s);
  cudaMemcpyAsync(pinned, out, sizeof(int), cudaMemcpyDeviceToHost, s);
  if (*pinned > n) act();  // EXPECT: host-branch
  if (room.bytes > 3) act();  // CLEAN: host-branch
}

// A count that the host could read where it lies.
CAPGATE_REGION void counts_in_place(workspace& room, const int* in, int* out, int n, cudaStream_t s) {
  int* count = nullptr;
  cudaMallocManaged(&count, sizeof(int));  // EXPECT: device-alloc
  *count = 0;
  if (*count) act();  // CLEAN: host-branch
  cub::DeviceSelect::If(room.memory, room.bytes, in, out, count, n, positive(), s);
  for (int i = 0; i < *count; ++i) act();  // EXPECT: device-sized
}

CAPGATE_REGION void no_stream(workspace& room, const int* in, int* out, int n) {
  cub::DeviceReduce::Sum(room.memory, room.bytes, in, out, n);  // EXPECT: default-stream
}

void set_up(workspace& room, const int* in, int* out, int n) {
  cub::DeviceReduce::Sum(nullptr, room.bytes, in, out, n);
  cudaMalloc(&room.memory, room.bytes);  // CLEAN: device-alloc
  cub::DeviceReduce::Sum(room.memory, room.bytes, in, out, n);  // CLEAN: default-stream
}
