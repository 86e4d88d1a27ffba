// The whole step as one graph a bucket.
#pragma once

#include "engine/cuda/capture/captured_step.h"

namespace dsv4::cuda {

// For capture_step.
capgate::Result<std::unique_ptr<CapturedStep>> capture_whole(Engine& engine, const std::vector<int>& buckets);

}  // namespace dsv4::cuda
