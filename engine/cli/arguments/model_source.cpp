#include "engine/cli/arguments/model_source.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "engine/cli/arguments/number_checks.h"
#include "engine/model/decode_state.h"
#include "engine/weights/model_shapes.h"

namespace dsv4::cli {

using capgate::Error;
using capgate::Result;

namespace {

constexpr char kFit[] = "fit";

Storage storage_of(const std::string& shape) {
  return shape == "tiny" ? Storage::kF32 : Storage::kCheckpoint;
}
Storage storage_of(const ModelConfig& config) {
  return config.expert_dtype == "fp4" ? Storage::kCheckpoint : Storage::kF32;
}

}  // namespace

void add_model_source(CLI::App& command, ModelSource& source) {
  CLI::App* where = command.add_option_group("source");
  where->add_option("--model", source.model, "Directory with config.json and safetensors files");
  auto* shape =
      where->add_option("--shape", source.shape, "tiny, flash or pro: random weights, made on the device")
          ->check(CLI::IsMember({"tiny", "flash", "pro"}));
  where->require_option(1);
  command
      .add_option("--layers", source.layers,
                  "With --shape: only the first N, or fit: as many as there is room for")
      ->needs(shape);
  command.add_option("--seed", source.seed, "With --shape: of the weights (default 1)")
      ->needs(shape)
      ->check(is_seed, "");
}

std::uint64_t generated_bytes(const ModelConfig& config) {
  std::uint64_t bytes = 0;
  for (const StoredTensor& tensor : stored_tensors(config, storage_of(config))) bytes += tensor.bytes();
  return bytes;
}

int layers_that_fit(const ModelConfig& config, int rows, int positions, std::uint64_t room) {
  const auto takes = [&](int layers) {
    const ModelConfig part = truncated(config, layers);
    return generated_bytes(part) +
           sizeof(float) * static_cast<std::uint64_t>(decode_state_size(part, rows, positions));
  };
  int layers = config.num_layers();
  while (layers > 0 && takes(layers) > room) --layers;
  return layers;
}

Result<OpenModel> open_source(const ModelSource& source, int rows, int positions,
                              const std::function<Result<std::uint64_t>()>& room) {
  if (!source.model.empty()) return open_model(source.model);
  OpenModel model;
  model.config = *model_shape(source.shape);
  if (storage_of(source.shape) == Storage::kF32) model.config.expert_dtype.clear();
  int layers = model.config.num_layers();
  if (source.layers == kFit) {
    const auto bytes = room();
    if (!bytes) return Error{bytes.error()};
    layers = layers_that_fit(model.config, rows, positions, *bytes);
    if (layers == 0) return Error{fmt::format("not one layer of the {} shape fits", source.shape)};
  } else if (!source.layers.empty()) {
    const char* end = source.layers.data() + source.layers.size();
    const auto [rest, failure] = std::from_chars(source.layers.data(), end, layers);
    if (failure != std::errc() || rest != end || layers < 1)
      return Error{fmt::format("--layers is a number or fit, not \"{}\"", source.layers)};
    if (layers > model.config.num_layers())
      return Error{
          fmt::format("the {} shape has {} layers, not {}", source.shape, model.config.num_layers(), layers)};
  }
  model.config = truncated(std::move(model.config), layers);
  model.unmade = std::make_unique<UnmadeTensors>(model.config, source.seed, storage_of(source.shape));
  auto weights = bind_weights(model.config, *model.unmade);
  if (!weights) return Error{weights.error()};
  model.weights = std::move(*weights);
  return model;
}

}  // namespace dsv4::cli
