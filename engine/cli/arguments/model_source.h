// Where a command takes its model from: a directory, or a shape whose weights are made on the device.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "engine/cli/arguments/open_model.h"

namespace CLI {
class App;
}

namespace dsv4::cli {

struct ModelSource {
  std::string model, shape, layers;
  std::uint64_t seed = 1;
};

void add_model_source(CLI::App& command, ModelSource& source);

// `room` is asked for the bytes that weights may take, when as many layers as fit are wanted; what a row's
// state of `rows` and `positions` takes is left free.
capgate::Result<OpenModel> open_source(const ModelSource& source, int rows, int positions,
                                       const std::function<capgate::Result<std::uint64_t>()>& room);

// Bytes of the weights of a generated model.
std::uint64_t generated_bytes(const ModelConfig& config);

// Layers of `config` whose weights and state fit into `room` bytes; 0 if not even one does.
int layers_that_fit(const ModelConfig& config, int rows, int positions, std::uint64_t room);

}  // namespace dsv4::cli
