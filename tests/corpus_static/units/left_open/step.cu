#include "recorder.h"

void step(cudaStream_t stream, InHeader& recorder) {
  begin_recording(stream);
  cudaDeviceSynchronize();  // EXPECT: host-sync
  end_recording(stream);
  recorder.begin(stream);
  cudaDeviceSynchronize();  // EXPECT: host-sync
  recorder.end(stream);
}
