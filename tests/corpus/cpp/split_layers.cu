// The later layers live on device 1 and run on a stream of it, of which the capture on device 0 knows
// nothing: their work runs once, while capturing, and no replay repeats it.
// Public faults: the class of vllm-project/vllm#11233 and ikawrakow/ik_llama.cpp#1040.
// CORPUS-GPUS: 2
#include "two_devices.h"

using corpus::Part;

static void later_layers(const Part& part) {
  const corpus::OnDevice current(part.device);
  add<<<1, 1, 0, part.stream>>>(part.x, 1);  // EXPECT: wrong-device error later_layers
}

static void step(const Part& first, const Part& second) {
  add<<<1, 1, 0, first.stream>>>(first.x, 1);
#ifdef CLEAN
  corpus::order(first, second);
#endif
  later_layers(second);
#ifdef CLEAN
  corpus::order(second, first);
#endif
}

int main() {
  corpus::need_two_devices();
  const Part first = corpus::new_part(0), second = corpus::new_part(1);
  step(first, second);
  corpus::wait_for(first);
  corpus::wait_for(second);

  CU(cudaStreamBeginCapture(first.stream, cudaStreamCaptureModeGlobal));
  step(first, second);
  const cudaGraph_t graph = corpus::end_capture(first.stream);
  if (!graph) return corpus::saw(false, "the capture died");
  corpus::wait_for(second);
  corpus::replay(graph, first.stream, 3);
  corpus::wait_for(second);
  const int here = corpus::read_one(first.x), there = corpus::read_one(second.x);
  if (here != 4) return corpus::saw(false, "three replays on the first device");
  return corpus::kClean ? corpus::saw(there == 4, "three replays on both devices")
                        : corpus::saw(there == 2, "no replay reached the second device");
}
