// One read-back is one cause: the copy, and what the host does with the value, follow from the line that brings
// the value to the host. read_backs.py reads CAUSE(x), SYMPTOM(x) and ALONE.
#include <capgate/capgate.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void work(int* p) {
  if (p) *p = 1;
}
void act() {}

static void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}
#define CHECK(call) check((call), __LINE__)

CAPGATE_REGION void synchronous(int* d, cudaStream_t s) {
  int count = 0;
  cudaMemcpy(&count, d, 4, cudaMemcpyDeviceToHost);  // EXPECT: sync-copy // CAUSE(a)
  if (count > 3) act();                              // EXPECT: host-branch // SYMPTOM(a)
  work<<<count, 32, 0, s>>>(d);                      // EXPECT: device-sized // SYMPTOM(a)
}

CAPGATE_REGION void waited_for(int* pinned, int* d, cudaStream_t s) {
  cudaMemcpyAsync(pinned, d, 4, cudaMemcpyDeviceToHost, s);
  cudaStreamSynchronize(s);  // EXPECT: host-sync // CAUSE(b)
  if (*pinned) act();        // EXPECT: host-branch // SYMPTOM(b)
}

CAPGATE_REGION void waited_for_by_checked_calls(int* d, cudaStream_t s) {
  int count = 0;
  CHECK(cudaMemcpyAsync(&count, d, 4, cudaMemcpyDeviceToHost, s));  // EXPECT: pageable-copy // SYMPTOM(c)
  CHECK(cudaStreamSynchronize(s));                                  // EXPECT: host-sync // CAUSE(c)
  for (int i = 0; i < count; ++i) act();                            // EXPECT: device-sized // SYMPTOM(c)
}

CAPGATE_REGION void two_values(int* pinned, int* d, cudaStream_t s) {
  cudaMemcpyAsync(pinned, d, 4, cudaMemcpyDeviceToHost, s);
  cudaMemcpyAsync(pinned + 1, d + 1, 4, cudaMemcpyDeviceToHost, s);
  cudaDeviceSynchronize();  // EXPECT: host-sync // CAUSE(d)
  if (pinned[0]) act();     // EXPECT: host-branch // SYMPTOM(d)
  if (pinned[1]) act();     // EXPECT: host-branch // SYMPTOM(d)
}

// Each brings a value of its own.
CAPGATE_REGION void two_read_backs(int* d) {
  int a = 0, b = 0;
  cudaMemcpy(&a, d, 4, cudaMemcpyDeviceToHost);      // EXPECT: sync-copy // CAUSE(e)
  cudaMemcpy(&b, d + 1, 4, cudaMemcpyDeviceToHost);  // EXPECT: sync-copy // CAUSE(f)
  if (a) act();                                      // EXPECT: host-branch // SYMPTOM(e)
  if (b) act();                                      // EXPECT: host-branch // SYMPTOM(f)
}

static void decide(int count) {
  if (count) act();  // EXPECT: host-branch // SYMPTOM(g)
}
CAPGATE_REGION void in_another_function(int* d) {
  int count = 0;
  cudaMemcpy(&count, d, 4, cudaMemcpyDeviceToHost);  // EXPECT: sync-copy // CAUSE(g)
  decide(count);
}

// What another stream did, and what other work was queued behind the copy, is waited for by itself.
CAPGATE_REGION void another_stream(int* pinned, int* d, cudaStream_t s, cudaStream_t other) {
  cudaMemcpyAsync(pinned, d, 4, cudaMemcpyDeviceToHost, s);
  cudaStreamSynchronize(other);  // EXPECT: host-sync // ALONE
  if (*pinned) act();            // EXPECT: host-branch // ALONE
}

CAPGATE_REGION void other_work(int* pinned, int* d, cudaStream_t s) {
  cudaMemcpyAsync(pinned, d, 4, cudaMemcpyDeviceToHost, s);
  work<<<1, 32, 0, s>>>(d);
  cudaStreamSynchronize(s);  // EXPECT: host-sync // ALONE
}

// No line brings it that is a fault by itself: the first use stands for all.
CAPGATE_REGION void never_waited_for(int* pinned, int* d, cudaStream_t s) {
  cudaMemcpyAsync(pinned, d, 4, cudaMemcpyDeviceToHost, s);
  if (*pinned) act();            // EXPECT: host-branch // CAUSE(h)
  work<<<*pinned, 32, 0, s>>>(d);  // EXPECT: device-sized // SYMPTOM(h)
}
