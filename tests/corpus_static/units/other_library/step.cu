// What a region reaches of another project's code through a source that holds nothing else is named.
#include "manager.h"

class Backend {
 public:
  void capture(cudaStream_t stream);

 private:
  std::unique_ptr<Manager> manager_;
  std::unique_ptr<Stage> stage_;
};

void Backend::capture(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  manager_->enqueue(stream);
  manager_->enqueue_if_idle(stream);
  stage_->run();
  cudaStreamEndCapture(stream, &graph);
  manager_->resize(3);
}
