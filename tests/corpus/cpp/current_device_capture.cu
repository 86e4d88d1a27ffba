// The model is on device 1, and the capture's stream is made on whichever device is current: device 0. All
// work goes to the other one, the graph on device 0 is empty, and what device 1 holds is the capture's result
// for ever.
// Public faults: pytorch/pytorch#87894, NVlabs/alpamayo1.5#38.
// CORPUS-GPUS: 2
#include "two_devices.h"

using corpus::Part;

static void forward(const Part& model, int* out) {
  const corpus::OnDevice current(model.device);
  copy_value<<<1, 1, 0, model.stream>>>(out, model.x);  // EXPECT: empty-graph error forward
}

static void set_input(const Part& model, int value) {
  const corpus::OnDevice current(model.device);
  CU(cudaMemcpy(model.x, &value, sizeof(value), cudaMemcpyHostToDevice));
  CU(cudaDeviceSynchronize());
}

int main() {
  corpus::need_two_devices();
  const Part model = corpus::new_part(1);
  int* out = corpus::new_part(1).x;
  set_input(model, 1);
  forward(model, out);
  corpus::wait_for(model);

#ifdef CLEAN
  const corpus::OnDevice current(model.device);
  const cudaStream_t stream = model.stream;
#else
  const cudaStream_t stream = corpus::new_stream();
#endif
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  forward(model, out);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (!graph) return corpus::saw(false, "the capture died");
  corpus::wait_for(model);
  set_input(model, 2);
  corpus::replay(graph, stream, 3);
  const int value = corpus::read_one(out);
  return corpus::kClean ? corpus::saw(value == 2, "the replays read the new input")
                        : corpus::saw(value == 1, "the replays of an empty graph left the capture's result");
}
