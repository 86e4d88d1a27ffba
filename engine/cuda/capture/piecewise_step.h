// The step as graphs with breaks at attention: one set a bucket, of one graph more than there are layers.
// Each graph goes from after one layer's attention to before the next one's.
#pragma once

#include "engine/cuda/capture/captured_step.h"

namespace dsv4::cuda {

// For capture_step.
capgate::Result<std::unique_ptr<CapturedStep>> capture_pieces(Engine& engine,
                                                              const std::vector<int>& buckets);

}  // namespace dsv4::cuda
