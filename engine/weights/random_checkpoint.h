// Writes a generated model to a directory: config.json and safetensors files of at most 4 GiB with their
// index.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "engine/weights/generator.h"

namespace dsv4 {

struct RandomCheckpoint {
  std::uint64_t bytes = 0;
  int files = 0;
};

// `progress` (may be empty) is called with the bytes written so far and in all.
capgate::Result<RandomCheckpoint> write_random_checkpoint(
    const ModelConfig& config, std::uint64_t seed, Storage storage, const std::string& dir,
    const std::function<void(std::uint64_t, std::uint64_t)>& progress);

}  // namespace dsv4
