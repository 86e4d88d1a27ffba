// A graph of device 0 is replayed on a stream of device 0 by code that has device 1 current, with work for
// device 1 in between: a launch needs the right stream, not the right current device.
// CORPUS-GPUS: 2
#include "tests/corpus/cpp/two_devices.h"

int main() {
  corpus::need_two_devices();
  const corpus::Part first = corpus::new_part(0), second = corpus::new_part(1);
  add<<<1, 1, 0, first.stream>>>(first.x, 1);
  corpus::wait_for(first);

  CU(cudaStreamBeginCapture(first.stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, first.stream>>>(first.x, 1);
  const cudaGraph_t graph = corpus::end_capture(first.stream);
  if (!graph) return corpus::saw(false, "the capture died");
  const cudaGraphExec_t exec = corpus::instantiate(graph);
  {
    const corpus::OnDevice current(second.device);
    for (int step = 0; step < 4; ++step) {
      CU(cudaGraphLaunch(exec, first.stream));
      add<<<1, 1, 0, second.stream>>>(second.x, 1);
    }
  }
  corpus::wait_for(first);
  corpus::wait_for(second);
  return corpus::saw(corpus::read_one(first.x) == 5 && corpus::read_one(second.x) == 4,
                     "four replays under another current device");
}
