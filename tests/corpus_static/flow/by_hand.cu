// Objects that are made and destroyed by hand.
#include <capgate/capgate.h>
#include <cuda_runtime.h>

#include <new>

struct count {
  int value = 0;
  ~count() = default;
};
template <class T>
union storage {
  T value;
  char nothing;
  storage() : nothing(0) {}
  ~storage() {}
};

void act() {}

CAPGATE_REGION void by_hand(int* pinned, const int* device, cudaStream_t s) {
  storage<count> room;
  new (&room.value) count();
  if (room.value.value) act();  // CLEAN: host-branch
  cudaMemcpyAsync(pinned, device, 4, cudaMemcpyDeviceToHost, s);
  room.value.value = *pinned;
  if (room.value.value) act();  // EXPECT: host-branch
  room.value.~count();
  room.value.count::~count();
  count* kept = new count;
  kept->~count();
}
