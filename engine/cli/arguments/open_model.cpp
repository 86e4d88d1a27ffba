#include "engine/cli/arguments/open_model.h"

#include "engine/config/parse_config.h"

namespace dsv4::cli {

using capgate::Error;

capgate::Result<OpenModel> open_model(const std::string& dir) {
  OpenModel model;
  auto config = load_config(dir);
  if (!config) return Error{config.error()};
  model.config = std::move(*config);
  auto checkpoint = Checkpoint::open(dir);
  if (!checkpoint) return Error{checkpoint.error()};
  model.checkpoint = std::make_unique<Checkpoint>(std::move(*checkpoint));
  auto weights = bind_weights(model.config, *model.checkpoint);
  if (!weights) return Error{weights.error()};
  model.weights = std::move(*weights);
  return model;
}

}  // namespace dsv4::cli
