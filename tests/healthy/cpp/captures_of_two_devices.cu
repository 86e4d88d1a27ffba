// One thread captures on both devices at once, as it does when it drives several GPUs: each launch belongs to
// the capture of its own stream, and each graph runs on its own device.
// CORPUS-GPUS: 2
#include "tests/corpus/cpp/two_devices.h"

int main() {
  corpus::need_two_devices();
  const corpus::Part parts[] = {corpus::new_part(0), corpus::new_part(1)};
  for (const auto& part : parts) {
    const corpus::OnDevice current(part.device);
    add<<<1, 1, 0, part.stream>>>(part.x, 1);
    corpus::wait_for(part);
  }
  for (const auto& part : parts) CU(cudaStreamBeginCapture(part.stream, cudaStreamCaptureModeGlobal));
  for (int layer = 0; layer < 2; ++layer) {
    for (const auto& part : parts) {
      const corpus::OnDevice current(part.device);
      add<<<1, 1, 0, part.stream>>>(part.x, 1);
    }
  }
  cudaGraph_t graphs[2];
  for (const auto& part : parts) {
    graphs[part.device] = corpus::end_capture(part.stream);
    if (!graphs[part.device]) return corpus::saw(false, "a capture died");
  }
  for (const auto& part : parts) {
    const corpus::OnDevice current(part.device);
    corpus::replay(graphs[part.device], part.stream, 3);
  }
  return corpus::saw(corpus::read_one(parts[0].x) == 7 && corpus::read_one(parts[1].x) == 7,
                     "three replays of a graph on each device");
}
