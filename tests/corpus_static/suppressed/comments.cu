// Comments that allow a fault, and comments that allow nothing. One that allows a fault holds for its own line and
// the line below.
#include <cuda_runtime.h>

#include <capgate/capgate.h>

__global__ void work(float* p);

CAPGATE_REGION void allowed(float* d, cudaStream_t s) {
  cudaStreamSynchronize(s);  // capgate-allow(host-sync): the calibration reads its histogram // CLEAN: unused-suppression
  // capgate-allow(sync-copy): once at start // CLEAN: unused-suppression
  cudaMemset(d, 0, 4);
  // capgate-allow(host-poll): a watchdog that runs in relaxed mode // CLEAN: unused-suppression
  cudaStreamQuery(s);
}

CAPGATE_REGION void not_needed(float* d, cudaStream_t s) {
  // capgate-allow(host-sync): nothing waits here // EXPECT: unused-suppression:note
  work<<<1, 1, 0, s>>>(d);
  // capgate-allow(host-poll): this is a wait and no poll // EXPECT: unused-suppression:note
  cudaStreamSynchronize(s);  // EXPECT: host-sync
}

CAPGATE_REGION void too_far_away(float* d, cudaStream_t s) {
  // capgate-allow(host-sync): two lines above // EXPECT: unused-suppression:note
  work<<<1, 1, 0, s>>>(d);
  cudaStreamSynchronize(s);  // EXPECT: host-sync
}

// Words about such a comment are none: the text "capgate-allow" alone says nothing. // CLEAN: unused-suppression
const char* help = "capgate-allow(host-sync): reason";  // CLEAN: unused-suppression
