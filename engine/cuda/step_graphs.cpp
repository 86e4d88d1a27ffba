#include "engine/cuda/step_graphs.h"

#include <capgate/capgate.h>
#include <fmt/format.h>

#include "engine/cuda/status.h"

namespace dsv4::cuda {

using capgate::Error;
using capgate::Result;

std::string bucket_name(int bucket) {
  return fmt::format("bs={}", bucket);
}

Result<StepGraphs> StepGraphs::capture(Engine& engine, const std::vector<int>& buckets) {
  StepGraphs graphs(engine);
  // A first step needs inputs: every row padded, at position 0.
  const Step& step = engine.step();
  const auto rows = static_cast<std::size_t>(step.rows);
  cudaError_t status = cudaMemsetAsync(step.ids, 0, rows * sizeof(int), engine.stream());
  if (status == cudaSuccess) status = cudaMemsetAsync(step.positions, 0, rows * sizeof(int), engine.stream());
  if (status == cudaSuccess)
    status = cudaMemsetAsync(step.sampling, 0, rows * sizeof(kernels::RowSampling), engine.stream());
  if (auto ok = done(status, "preparing the first step"); !ok) return Error{ok.error()};
  for (const int bucket : buckets)
    if (auto ok = graphs.capture_bucket(bucket); !ok) return Error{ok.error()};
  return graphs;
}

Result<void> StepGraphs::capture_bucket(int bucket) {
  const std::string name = bucket_name(bucket);
  if (bucket < 1 || bucket > engine_->step().rows)
    return Error{fmt::format("bucket {} of an engine of {} rows", name, engine_->step().rows)};
  const cudaStream_t stream = engine_->stream();
  cudaError_t status = enqueue_step(engine_->step(), bucket, stream);
  if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
  if (auto ok = done(status, fmt::format("the first step of {}", name)); !ok) return ok;

  cudaGraph_t graph = nullptr;
  {
    const capgate::bucket marked(name.c_str());
    status = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (auto ok = done(status, fmt::format("beginning the capture of {}", name)); !ok) return ok;
    const cudaError_t enqueued = enqueue_step(engine_->step(), bucket, stream);
    status = cudaStreamEndCapture(stream, &graph);
    if (enqueued != cudaSuccess) status = enqueued;
  }
  Graph made{};
  if (status == cudaSuccess) status = cudaGraphGetNodes(graph, nullptr, &made.nodes);
  if (status == cudaSuccess) status = cudaGraphInstantiate(&made.exec, graph, 0);
  if (graph != nullptr) cudaGraphDestroy(graph);
  if (auto ok = done(status, fmt::format("capturing {}", name)); !ok) return ok;
  graphs_[bucket] = made;
  return done(cudaGraphUpload(made.exec, stream), fmt::format("uploading the graph of {}", name));
}

StepGraphs::~StepGraphs() {
  for (const auto& [bucket, graph] : graphs_) cudaGraphExecDestroy(graph.exec);
}

}  // namespace dsv4::cuda
