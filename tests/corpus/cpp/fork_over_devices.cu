// One capture over two devices: the second one's stream is forked into it by an event. It has to come back by
// one as well; unjoined, the capture ends with 904, which names neither the stream nor the device.
// Public fault: the class of deepseek-ai/DeepEP#62, over two devices.
// CORPUS-GPUS: 2
#include "two_devices.h"

using corpus::Part;

static void shard(const Part& first, const Part& second) {
  CU(cudaEventRecord(first.event, first.stream));
  CU(cudaStreamWaitEvent(second.stream, first.event, 0));  // EXPECT: unjoined-stream error shard
  const corpus::OnDevice current(second.device);
  add<<<1, 1, 0, second.stream>>>(second.x, 1);
}

int main() {
  corpus::need_two_devices();
  const Part first = corpus::new_part(0), second = corpus::new_part(1);
  shard(first, second);
  corpus::wait_for(second);

  CU(cudaStreamBeginCapture(first.stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, first.stream>>>(first.x, 1);
  shard(first, second);
  add<<<1, 1, 0, first.stream>>>(first.x, 1);
#ifdef CLEAN
  corpus::order(second, first);
#endif
  const cudaGraph_t graph = corpus::end_capture(first.stream);
  if (graph) corpus::replay(graph, first.stream, 3);
  return corpus::capture_dies(graph, corpus::read_one(first.x) == 6 && corpus::read_one(second.x) == 4);
}
