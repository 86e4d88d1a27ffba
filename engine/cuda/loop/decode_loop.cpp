#include "engine/cuda/loop/decode_loop.h"

#include <capgate/capgate.h>
#include <fmt/format.h>

#include <algorithm>

#include "engine/cuda/memory/status.h"
#include "engine/weights/generator.h"

namespace dsv4::cuda {

using capgate::Error;
using capgate::Result;

namespace {

kernels::StepOrders orders_of(const StepPlan& plan, const std::vector<Request>& requests) {
  kernels::StepOrders orders;
  for (const LaneTask& task : plan.lanes) {
    kernels::LaneOrder& order = orders.lane[orders.lanes++];
    order = {task.lane, task.row, task.id, task.position, {}};
    if (!task.goes_on) continue;
    const Sampling& sampling = requests[static_cast<std::size_t>(task.request)].sampling;
    order.sampling = {sampling.temperature, tensor_key(sampling.seed, "sampling"), sampling.top_k, 1};
  }
  for (const PageTask& task : plan.pages) orders.page[orders.pages++] = {task.row, task.index, task.page};
  return orders;
}

}  // namespace

Result<std::unique_ptr<DecodeLoop>> DecodeLoop::create(Engine& engine, const CapturedStep* captured) {
  std::unique_ptr<DecodeLoop> loop(new DecodeLoop(engine, captured));
  if (auto ok = loop->make(); !ok) return Error{ok.error()};
  return loop;
}

Result<void> DecodeLoop::make() {
  for (cudaEvent_t& event : ready_)
    if (auto ok = done(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creating an event"); !ok)
      return ok;
  return {};
}

DecodeLoop::~DecodeLoop() {
  cudaStreamSynchronize(engine_.stream());
  for (const cudaEvent_t event : ready_)
    if (event != nullptr) cudaEventDestroy(event);
}

Result<void> DecodeLoop::check(const std::vector<Request>& requests, Buckets buckets) const {
  const Step& step = engine_.step();
  if (buckets.rows < 1 || buckets.rows > step.rows || buckets.lanes < buckets.rows ||
      buckets.lanes > step.lanes)
    return Error{fmt::format("{} rows in buckets of up to {} lanes, in an engine of {} rows and {} lanes",
                             buckets.rows, buckets.lanes, step.rows, step.lanes)};
  for (const Request& request : requests) {
    if (request.prompt.empty()) return Error{"a prompt is empty"};
    if (request.max_tokens < 1 ||
        static_cast<std::int64_t>(request.prompt.size()) + request.max_tokens > step.max_positions)
      return Error{fmt::format("{} tokens of prompt and {} new ones do not fit {} positions",
                               request.prompt.size(), request.max_tokens, step.max_positions)};
    if (const int pages = Schedule::pages_of(request, step.page_tokens); pages > step.pages)
      return Error{fmt::format("{} tokens of prompt and {} new ones need {} pages, there are {}",
                               request.prompt.size(), request.max_tokens, pages, step.pages)};
  }
  return {};
}

cudaError_t DecodeLoop::start() const {
  const Step& step = engine_.step();
  const cudaError_t status = cudaMemsetAsync(
      step.ring_step, 0, static_cast<std::size_t>(step.lanes) * sizeof(unsigned), engine_.stream());
  return status == cudaSuccess ? engine_.free_lanes() : status;
}

cudaError_t DecodeLoop::enqueue(const StepPlan& plan, const std::vector<Request>& requests, int number) {
  const Step& step = engine_.step();
  if (!plan.lanes.empty() || !plan.pages.empty())
    kernels::give_orders(engine_.stream(), step.lane, orders_of(plan, requests));
  cudaError_t status = cudaPeekAtLastError();
  if (status != cudaSuccess) return status;
  if (captured_ != nullptr) {
    status = captured_->launch(plan.bucket);
  } else {
    const capgate::region region("decode");
    status = enqueue_step(step, plan.bucket, engine_.stream());
  }
  if (status == cudaSuccess) status = cudaEventRecord(ready_[number % kSlots], engine_.stream());
  if (status == cudaSuccess && after_step_) status = after_step_(number, plan);
  return status;
}

Result<void> DecodeLoop::run(const std::vector<Request>& requests, Buckets buckets,
                             const std::function<void(int, int)>& on_token,
                             const std::function<void(int, Arrival)>& on_end) {
  const Step& step = engine_.step();
  if (auto ok = check(requests, buckets); !ok) return ok;
  if (auto ok = done(start(), "starting the lanes"); !ok) return ok;
  Schedule schedule(requests, {buckets.rows, buckets.lanes, std::min(step.chunk, buckets.lanes),
                               step.page_tokens, step.pages, step.config.stop_tokens});
  StepPlan plans[kSlots];
  const auto take_tokens = [&](int number) {
    const int* tokens = step.ring + static_cast<std::ptrdiff_t>(number % kSlots) * step.lanes;
    for (const auto [lane, request] : plans[number % kSlots].answers) {
      const int token = tokens[lane];
      const Arrival arrival = schedule.arrived(request, token);
      if (arrival == Arrival::kToken || arrival == Arrival::kLast) on_token(request, token);
      if (on_end && (arrival == Arrival::kLast || arrival == Arrival::kStop)) on_end(request, arrival);
    }
  };
  for (int s = 0;; ++s) {
    const bool more = schedule.next(plans[s % kSlots]);
    if (more)
      if (auto ok = done(enqueue(plans[s % kSlots], requests, s), fmt::format("step {}", s)); !ok) return ok;
    if (s > 0) {
      if (auto ok = done(cudaEventSynchronize(ready_[(s - 1) % kSlots]), fmt::format("step {}", s - 1)); !ok)
        return ok;
      take_tokens(s - 1);
    }
    if (!more) break;
  }
  cudaError_t status = engine_.free_lanes();
  if (status == cudaSuccess) status = cudaStreamSynchronize(engine_.stream());
  return done(status, "the last step");
}

}  // namespace dsv4::cuda
