// What a region calls has a body that was looked at, or is said not to have been.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "layer.h"

using Steps = std::map<std::string, std::function<void(cudaStream_t)>>;

void decode(cudaStream_t stream, Ops* ops, Backend* backend, Steps& steps,
            const std::vector<std::function<void(cudaStream_t)>>& hooks) {
  cudaGraph_t graph;
  elsewhere(stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  elsewhere(stream);  // EXPECT: not-analysed
  in_this_project(stream);
  ops->work(stream);                            // EXPECT: not-analysed
  backend->run(stream);                         // EXPECT: not-analysed
  steps["attention"](stream);                   // EXPECT: not-analysed
  for (const auto& hook : hooks) hook(stream);  // EXPECT: not-analysed
  Layer layer(host_arithmetic(3));              // EXPECT: not-analysed
  const Layer copy = layer;
  layer.forward(stream);  // EXPECT: not-analysed
  cudaStreamEndCapture(stream, &graph);
}
