// Many prompts through the reference, in the order and in the rows in which any engine takes them
// (model/schedule.h).
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "engine/config/model_config.h"
#include "engine/model/schedule.h"
#include "engine/weights/model_weights.h"

namespace dsv4::reference {

// `rows` requests at a time, up to `chunk` tokens of a prompt in one step. Calls on_token(request, token) for
// each new token, without stop tokens, and on_end(request, arrival) once, with kLast or kStop. An error when
// logits say nothing.
capgate::Result<void> decode_rows(const ModelConfig& config, const ModelWeights& weights,
                                  const std::vector<Request>& requests, int rows, int chunk,
                                  const std::function<void(int, int)>& on_token,
                                  const std::function<void(int, Arrival)>& on_end = {});

}  // namespace dsv4::reference
