// The step captured: once for a batch bucket, replayed for every token. Which bucket is the host's choice by
// its own number of rows.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "engine/cuda/capture/modes.h"
#include "engine/cuda/step/engine.h"

namespace dsv4::cuda {

// How graphs and the attention between them are put in order in piecewise mode.
enum class Ordering {
  kPerStep,  // all on the engine's stream, which keeps the order; the one event of a step is its reader's
  kPerLayer  // attention on a stream of its own: an event before it and one after it, in every layer
};

class CapturedStep {
 public:
  virtual ~CapturedStep() = default;
  // One step of `bucket`, which is one of those captured, on the engine's stream.
  virtual cudaError_t launch(int bucket) const = 0;
  virtual std::size_t graphs(int bucket) const = 0;
  virtual std::size_t nodes(int bucket) const = 0;
  // Steps from now on; nothing else changes. In full mode there is nothing to put in order.
  virtual void order_by(Ordering) {}
};

// Captures the step of `engine` (which must outlive it) for every bucket, each of at most its lanes; `mode`
// is not eager. Runs each bucket once before, with lanes that nobody uses, so that every kernel is loaded.
capgate::Result<std::unique_ptr<CapturedStep>> capture_step(Engine& engine, Mode mode,
                                                            const std::vector<int>& buckets);

}  // namespace dsv4::cuda
