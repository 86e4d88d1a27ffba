// A captured graph, ready to be launched.
#pragma once

#include <capgate/capgate.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/result.h"
#include "engine/cuda/memory/status.h"

namespace dsv4::cuda {

class Graph {
 public:
  // What `enqueue` puts on `stream`, under a name for reports. `enqueue` returns a cudaError_t.
  template <class Enqueue>
  static capgate::Result<Graph> capture(cudaStream_t stream, const std::string& name,
                                        const Enqueue& enqueue) {
    cudaGraph_t graph = nullptr;
    cudaError_t status;
    {
      const capgate::bucket marked(name.c_str());
      status = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
      if (auto ok = done(status, fmt::format("beginning the capture of {}", name)); !ok)
        return capgate::Error{ok.error()};
      const cudaError_t enqueued = enqueue();
      status = cudaStreamEndCapture(stream, &graph);
      if (enqueued != cudaSuccess) status = enqueued;
    }
    Graph made;
    if (status == cudaSuccess) status = cudaGraphGetNodes(graph, nullptr, &made.nodes_);
    if (status == cudaSuccess) status = cudaGraphInstantiate(&made.exec_, graph, 0);
    if (graph != nullptr) cudaGraphDestroy(graph);
    if (auto ok = done(status, fmt::format("capturing {}", name)); !ok) return capgate::Error{ok.error()};
    if (auto ok = done(cudaGraphUpload(made.exec_, stream), fmt::format("uploading the graph of {}", name));
        !ok)
      return capgate::Error{ok.error()};
    return made;
  }

  Graph(Graph&& other) noexcept : exec_(std::exchange(other.exec_, nullptr)), nodes_(other.nodes_) {}
  Graph& operator=(Graph&&) = delete;
  ~Graph() {
    if (exec_ != nullptr) cudaGraphExecDestroy(exec_);
  }

  cudaError_t launch(cudaStream_t stream) const { return cudaGraphLaunch(exec_, stream); }
  std::size_t nodes() const { return nodes_; }

 private:
  Graph() = default;
  cudaGraphExec_t exec_ = nullptr;
  std::size_t nodes_ = 0;
};

}  // namespace dsv4::cuda
