// The step as graphs, one a batch bucket: captured once, replayed for every token. Which graph is the host's
// choice by its own number of rows.
#pragma once

#include <map>
#include <vector>

#include "engine/cuda/engine.h"

namespace dsv4::cuda {

class StepGraphs {
 public:
  // Captures the step of `engine` (which must outlive it) for every bucket, each of at most its rows. Runs
  // each bucket once before, so that every kernel is loaded; what that leaves in the state is harmless.
  static capgate::Result<StepGraphs> capture(Engine& engine, const std::vector<int>& buckets);
  StepGraphs(StepGraphs&& other) noexcept : engine_(other.engine_), graphs_(std::move(other.graphs_)) {
    other.graphs_.clear();
  }
  StepGraphs& operator=(StepGraphs&&) = delete;
  ~StepGraphs();

  // `bucket` is one of those captured.
  cudaError_t launch(int bucket) const { return cudaGraphLaunch(graphs_.at(bucket).exec, engine_->stream()); }
  std::size_t nodes(int bucket) const { return graphs_.at(bucket).nodes; }

 private:
  struct Graph {
    cudaGraphExec_t exec;
    std::size_t nodes;
  };
  explicit StepGraphs(Engine& engine) : engine_(&engine) {}
  capgate::Result<void> capture_bucket(int bucket);

  Engine* engine_;
  std::map<int, Graph> graphs_;
};

// "bs=4": how reports name a bucket.
std::string bucket_name(int bucket);

}  // namespace dsv4::cuda
