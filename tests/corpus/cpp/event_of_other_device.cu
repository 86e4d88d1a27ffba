// Events for ordering streams are kept a device, and the helper is told the wrong one. An event records only
// streams of its own device: 400, which nobody looks at. A wait for an event that was never recorded is none,
// so the second stream is not part of the capture, and its kernel in no graph.
// Public faults: the class of NVIDIA/DALI#3957 and deepseek-ai/DeepEP#62.
// CORPUS-GPUS: 2
#include "two_devices.h"

struct Step {
  cudaEvent_t events[2];  // of each device
  cudaStream_t main, side;
  int* x;

  void order(cudaStream_t from, cudaStream_t to, int device) const {
    (void)cudaEventRecord(events[device], from);  // EXPECT: wrong-device error order
    (void)cudaStreamWaitEvent(to, events[device], 0);
  }

  void run(int device) const {
    add<<<1, 1, 0, main>>>(x, 1);
    order(main, side, device);
    add<<<1, 1, 0, side>>>(x + 1, 1);  // EXPECT: escaped-work error run
    order(side, main, device);
    add<<<1, 1, 0, main>>>(x, 10);
  }
};

int main() {
  corpus::need_two_devices();
  const corpus::Part first = corpus::new_part(0), second = corpus::new_part(1);
  const Step step{{first.event, second.event}, first.stream, corpus::new_stream(), corpus::device_ints(2)};
  add<<<1, 1, 0, step.main>>>(step.x, 0);
  add<<<1, 1, 0, step.side>>>(step.x + 1, 0);
  CU(cudaDeviceSynchronize());

  CU(cudaStreamBeginCapture(step.main, cudaStreamCaptureModeGlobal));
  step.run(corpus::kClean ? first.device : second.device);
  const cudaGraph_t graph = corpus::end_capture(step.main);
  if (!graph) return corpus::saw(false, "the capture died");
  CU(cudaDeviceSynchronize());
  corpus::replay(graph, step.main, 3);
  const std::vector<int> sums = corpus::read_back(step.x, 2);
  return corpus::kClean
             ? corpus::saw(sums == std::vector<int>({33, 3}), "both streams in three replays")
             : corpus::saw(sums == std::vector<int>({33, 1}), "the second stream's work in no replay");
}
