#include "engine/reference/decode_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/reference/model.h"

namespace dsv4::reference {
namespace {

using capgate::Error;
using capgate::Result;

// What is not a number has no largest one, and where an infinity was normalised away all are equal: a token
// would be given that nothing speaks for.
bool tell_tokens_apart(const std::vector<float>& logits) {
  const bool finite = std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); });
  const bool differ = std::ranges::any_of(logits, [&](float logit) { return logit != logits.front(); });
  return finite && (differ || logits.size() == 1);
}

// A row's tokens one after the other.
std::vector<LaneTask*> in_order(std::vector<LaneTask>& lanes, int bucket) {
  std::vector<LaneTask*> feeding;
  for (int lane = 0; lane < bucket; ++lane)
    if (lanes[static_cast<std::size_t>(lane)].row >= 0)
      feeding.push_back(&lanes[static_cast<std::size_t>(lane)]);
  std::ranges::sort(feeding, {}, [](const LaneTask* task) { return std::pair(task->row, task->position); });
  return feeding;
}

}  // namespace

Result<void> decode_rows(const ModelConfig& config, const ModelWeights& weights,
                         const std::vector<Request>& requests, int rows, int chunk,
                         const std::function<void(int, int)>& on_token,
                         const std::function<void(int, Arrival)>& on_end) {
  int positions = 1;
  for (const Request& request : requests)
    positions = std::max(positions, static_cast<int>(request.prompt.size()) + request.max_tokens);
  Model<float> model(config, weights, rows, positions);
  std::vector<LaneTask> lanes(static_cast<std::size_t>(std::max(rows, chunk)));
  Schedule schedule(requests, {rows, static_cast<int>(lanes.size()), chunk, 0, 0, config.stop_tokens});
  std::vector<float> logits(static_cast<std::size_t>(config.vocab_size));
  for (StepPlan plan; schedule.next(plan);) {
    for (const LaneTask& task : plan.lanes) lanes[static_cast<std::size_t>(task.lane)] = task;
    for (LaneTask* task : in_order(lanes, plan.bucket)) {
      model.step_row(task->row, task->id, task->position, logits);
      if (!task->goes_on) continue;
      if (!tell_tokens_apart(logits))
        return Error{
            fmt::format("the logits of position {} tell no token from another: the model's weights, or the "
                        "scales of its config.json, are beyond single precision",
                        task->position)};
      const int request = task->request;
      const Sampling& sampling = requests[static_cast<std::size_t>(request)].sampling;
      task->id = next_token(std::span<const float>(logits), sampling, task->position);
      ++task->position;
      const Arrival arrival = schedule.arrived(request, task->id);
      if (arrival == Arrival::kToken || arrival == Arrival::kLast) on_token(request, task->id);
      if (on_end && arrival != Arrival::kToken) on_end(request, arrival);
    }
  }
  return {};
}

}  // namespace dsv4::reference
