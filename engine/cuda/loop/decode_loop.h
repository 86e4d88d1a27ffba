// The decode loop: prompts and their continuations, all through the one step. Rows are taken up, decoded and
// given up between steps, by orders to lanes (engine/model/schedule.h) that travel with a launch of their
// own. The host learns each token a step late, from a pinned ring that the step itself writes, after an
// event; by then the next step is already under way.
#pragma once

#include <functional>
#include <vector>

#include "engine/cuda/capture/captured_step.h"
#include "engine/cuda/step/engine.h"
#include "engine/model/request.h"
#include "engine/model/schedule.h"

namespace dsv4::cuda {

class DecodeLoop {
 public:
  // `captured`: replay it; null: run the step itself each time. Both must outlive the loop.
  static capgate::Result<std::unique_ptr<DecodeLoop>> create(Engine& engine, const CapturedStep* captured);
  ~DecodeLoop();
  DecodeLoop(const DecodeLoop&) = delete;
  DecodeLoop& operator=(const DecodeLoop&) = delete;

  // The buckets of a run: one of `rows` lanes, and one of `lanes` for steps that feed more of a prompt.
  struct Buckets {
    int rows, lanes;
  };
  // Any number of requests, `rows` of them at a time. Calls on_token(request, token) for each new token, in
  // order for one request, without stop tokens; on_end(request, arrival) once, with kLast or kStop.
  capgate::Result<void> run(const std::vector<Request>& requests, Buckets buckets,
                            const std::function<void(int, int)>& on_token,
                            const std::function<void(int, Arrival)>& on_end = {});
  capgate::Result<void> run(const std::vector<Request>& requests, int bucket,
                            const std::function<void(int, int)>& on_token) {
    return run(requests, {bucket, bucket}, on_token);
  }

  // What is put on the engine's stream behind each step from now on, for a look at what the step left.
  void watch(std::function<cudaError_t(int step, const StepPlan&)> after_step) {
    after_step_ = std::move(after_step);
  }

 private:
  static constexpr int kSlots = Step::kRingSlots;

  DecodeLoop(Engine& engine, const CapturedStep* captured) : engine_(engine), captured_(captured) {}
  capgate::Result<void> make();
  capgate::Result<void> check(const std::vector<Request>& requests, Buckets buckets) const;
  cudaError_t start() const;
  cudaError_t enqueue(const StepPlan& plan, const std::vector<Request>& requests, int number);

  Engine& engine_;
  const CapturedStep* captured_;
  std::function<cudaError_t(int, const StepPlan&)> after_step_;
  cudaEvent_t ready_[kSlots] = {};
};

}  // namespace dsv4::cuda
