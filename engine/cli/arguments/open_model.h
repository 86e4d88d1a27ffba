// A model directory, opened and checked, as the commands use it.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/config/model_config.h"
#include "engine/weights/model_weights.h"
#include "engine/weights/unmade_tensors.h"

namespace dsv4::cli {

struct OpenModel {
  ModelConfig config;
  std::unique_ptr<Checkpoint> checkpoint;  // what `weights` points into
  std::unique_ptr<UnmadeTensors> unmade;   // or what it names
  ModelWeights weights;
};

capgate::Result<OpenModel> open_model(const std::string& dir);

}  // namespace dsv4::cli
