// A capture that is made again for each value of a key: what the host decides by the key in it holds at each
// replay.
#include <cuda_runtime.h>

#include <map>
#include <unordered_map>

__global__ void work(int rows) {}

static int length_on_the_device(const int* length, cudaStream_t stream) {
  int host = 0;
  cudaMemcpyAsync(&host, length, sizeof host, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  return host;
}

static void step(cudaStream_t stream, int rows) {
  if (rows > 64) work<<<1, 1, 0, stream>>>(rows);  // EXPECT: host-branch
  work<<<1, 1, 0, stream>>>(rows);
}

class Keyed {
 public:
  void by_a_member(const int* length, cudaStream_t stream) {
    const int rows = length_on_the_device(length, stream);
    if (exec_ == nullptr || captured_rows_ != rows) {
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
      if (rows > 64) work<<<1, 1, 0, stream>>>(1);  // CLEAN: host-branch, captured again for another length
      cudaStreamEndCapture(stream, &graph_);
      cudaGraphInstantiate(&exec_, graph_, 0);
      captured_rows_ = rows;
    }
    cudaGraphLaunch(exec_, stream);
  }

  void by_an_early_return(const int* length, cudaStream_t stream) {
    const int rows = length_on_the_device(length, stream);
    if (captured_rows_ == rows) {
      cudaGraphLaunch(exec_, stream);
      return;
    }
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    if (rows > 64) work<<<1, 1, 0, stream>>>(2);  // CLEAN: host-branch, the graph at hand is of this length
    cudaStreamEndCapture(stream, &graph_);
    cudaGraphInstantiate(&exec_, graph_, 0);
    captured_rows_ = rows;
  }

  void through_a_call(const int* length, cudaStream_t stream) {
    const int rows = length_on_the_device(length, stream);
    if (captured_rows_ != rows) {
      capture(rows, stream);
      captured_rows_ = rows;
    }
  }

  void by_a_map(const int* length, cudaStream_t stream) {
    const int rows = length_on_the_device(length, stream);
    if (graphs_.find(rows) == graphs_.end()) {
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
      if (rows > 64) work<<<1, 1, 0, stream>>>(3);  // CLEAN: host-branch, one graph a length
      cudaStreamEndCapture(stream, &graph_);
      cudaGraphInstantiate(&exec_, graph_, 0);
      graphs_[rows] = exec_;
    }
    cudaGraphLaunch(graphs_[rows], stream);
  }

  void by_an_iterator(const int* length, cudaStream_t stream) {
    const int rows = length_on_the_device(length, stream);
    const auto found = graphs_.find(rows);
    if (found == graphs_.end()) {
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
      if (rows > 64) work<<<1, 1, 0, stream>>>(4);  // CLEAN: host-branch, one graph a length
      cudaStreamEndCapture(stream, &graph_);
      cudaGraphInstantiate(&exec_, graph_, 0);
      graphs_.emplace(rows, exec_);
    }
  }

  void by_another_key(const int* length, cudaStream_t stream, int batch) {
    const int rows = length_on_the_device(length, stream);
    if (captured_rows_ != batch) {
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
      if (rows > 64) work<<<1, 1, 0, stream>>>(5);  // EXPECT: host-branch
      cudaStreamEndCapture(stream, &graph_);
      captured_rows_ = batch;
    }
  }

  void that_is_not_kept(const int* length, cudaStream_t stream) {
    const int rows = length_on_the_device(length, stream);
    if (captured_rows_ != rows) {
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
      if (rows > 64) work<<<1, 1, 0, stream>>>(6);  // EXPECT: host-branch
      cudaStreamEndCapture(stream, &graph_);
    }
  }

  void only_if_it_is_absent(const int* length, cudaStream_t stream) {
    const int rows = length_on_the_device(length, stream);
    if (graphs_.empty()) {
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
      step(stream, rows);
      cudaStreamEndCapture(stream, &graph_);
      cudaGraphInstantiate(&exec_, graph_, 0);
      graphs_[rows] = exec_;
    }
  }

 private:
  void capture(int rows, cudaStream_t stream) {
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    if (rows > 32) work<<<1, 1, 0, stream>>>(7);  // CLEAN: host-branch, one length a capture
    cudaStreamEndCapture(stream, &graph_);
  }

  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
  int captured_rows_ = -1;
  std::map<int, cudaGraphExec_t> graphs_;
};

void all(const int* length, cudaStream_t stream) {
  Keyed keyed;
  keyed.by_a_member(length, stream);
  keyed.by_an_early_return(length, stream);
  keyed.through_a_call(length, stream);
  keyed.by_a_map(length, stream);
  keyed.by_an_iterator(length, stream);
  keyed.by_another_key(length, stream, 4);
  keyed.that_is_not_kept(length, stream);
  keyed.only_if_it_is_absent(length, stream);
}
