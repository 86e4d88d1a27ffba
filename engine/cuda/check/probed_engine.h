// The CUDA step under the probe of the reference: components are shown and choices offered once a step is
// over; where a choice is replaced, the step is run again with it, which is harmless since all of its state
// is addressed by position.
#pragma once

#include "engine/cuda/step/engine.h"
#include "engine/verify/tested_engine.h"

namespace dsv4::cuda {

capgate::Result<std::unique_ptr<TestedEngine<float>>> make_probed_engine(const ModelConfig& config,
                                                                         const ModelWeights& weights,
                                                                         int rows, int max_positions);

}  // namespace dsv4::cuda
