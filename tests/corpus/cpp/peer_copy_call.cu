// Activations go to the other device with cudaMemcpyPeerAsync, which no capture takes; cudaMemcpyAsync does
// the same copy and becomes a node.
// Public fault: the class of rapidsai/rmm#2518, a copy call that a capture refuses.
// CORPUS-GPUS: 2
#include "two_devices.h"

using corpus::Part;

static void send(const Part& from, const Part& to, cudaStream_t stream) {
#ifdef CLEAN
  CU(cudaMemcpyAsync(to.x, from.x, sizeof(int), cudaMemcpyDefault, stream));
#else
  // EXPECT: capture-invalidated error send
  const cudaError_t result = cudaMemcpyPeerAsync(to.x, to.device, from.x, from.device, sizeof(int), stream);
  if (result != cudaSuccess) std::printf("sending: %s\n", cudaGetErrorString(result));
#endif
}

int main() {
  corpus::need_two_devices();
  const Part first = corpus::new_part(0), second = corpus::new_part(1);
  corpus::allow_peers(first, second);
  add<<<1, 1, 0, first.stream>>>(first.x, 1);
  send(first, second, first.stream);
  corpus::wait_for(first);

  CU(cudaStreamBeginCapture(first.stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, first.stream>>>(first.x, 1);
  send(first, second, first.stream);
#ifdef CLEAN
  {
    // A copy may go into a stream that is not the current device's, and back.
    const corpus::OnDevice current(second.device);
    send(second, first, first.stream);
  }
#endif
  const cudaGraph_t graph = corpus::end_capture(first.stream);
  if (graph) corpus::replay(graph, first.stream, 3);
  return corpus::capture_dies(graph, corpus::read_one(second.x) == 4 && corpus::read_one(first.x) == 4);
}
