#include "engine/cuda/decode_loop.h"

#include <capgate/capgate.h>
#include <fmt/format.h>

#include <algorithm>

#include "engine/cuda/status.h"

namespace dsv4::cuda {

using capgate::Error;
using capgate::Result;

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

// Prompts, sampling and first tokens, before the loop; rows without a request stay padded.
Result<void> DecodeLoop::start(const std::vector<Request>& requests) {
  const Step& step = engine_.step();
  const auto rows = static_cast<std::size_t>(step.rows);
  const auto capacity = static_cast<std::size_t>(step.prompt_capacity);
  std::vector<int> ids(rows), positions(rows), lengths(rows), prompt(rows * capacity);
  std::vector<kernels::RowSampling> sampling(rows);
  for (std::size_t row = 0; row < requests.size(); ++row) {
    const Request& request = requests[row];
    if (request.prompt.empty() || request.prompt.size() > capacity)
      return Error{fmt::format("a prompt of {} tokens where there is room for 1 to {}", request.prompt.size(),
                               capacity)};
    if (static_cast<std::int64_t>(request.prompt.size()) + request.max_tokens > step.max_positions)
      return Error{fmt::format("{} tokens of prompt and {} new ones are more than {} positions",
                               request.prompt.size(), request.max_tokens, step.max_positions)};
    ids[row] = request.prompt.front();
    lengths[row] = static_cast<int>(request.prompt.size());
    std::copy(request.prompt.begin(), request.prompt.end(),
              prompt.begin() + static_cast<std::ptrdiff_t>(row * capacity));
    sampling[row] = {request.sampling.temperature, tensor_key(request.sampling.seed, "sampling"),
                     request.sampling.top_k, 1};
  }
  cudaError_t status = cudaSuccess;
  const auto put = [&](void* device, const void* host, std::size_t size) {
    if (status == cudaSuccess)
      status = cudaMemcpyAsync(device, host, size, cudaMemcpyHostToDevice, engine_.stream());
  };
  put(step.ids, ids.data(), rows * sizeof(int));
  put(step.positions, positions.data(), rows * sizeof(int));
  put(step.prompt, prompt.data(), prompt.size() * sizeof(int));
  put(step.prompt_length, lengths.data(), rows * sizeof(int));
  put(step.sampling, sampling.data(), rows * sizeof(kernels::RowSampling));
  if (status == cudaSuccess)
    status = cudaMemsetAsync(step.ring_step, 0, rows * sizeof(unsigned), engine_.stream());
  if (status == cudaSuccess) status = cudaStreamSynchronize(engine_.stream());
  return done(status, "starting the rows");
}

cudaError_t DecodeLoop::enqueue(int bucket, int number) {
  const Step& step = engine_.step();
  cudaError_t status;
  if (captured_ != nullptr) {
    status = captured_->launch(bucket);
  } else {
    const capgate::region region("decode");
    status = enqueue_step(step, bucket, engine_.stream());
  }
  if (status == cudaSuccess) status = cudaEventRecord(ready_[number % kSlots], engine_.stream());
  if (status == cudaSuccess && after_step_) status = after_step_(number);
  return status;
}

Result<void> DecodeLoop::run(const std::vector<Request>& requests, int bucket,
                             const std::function<void(int, int)>& on_token) {
  const Step& step = engine_.step();
  if (bucket > step.rows || static_cast<int>(requests.size()) > bucket)
    return Error{
        fmt::format("{} requests in a bucket of {} and {} rows", requests.size(), bucket, step.rows)};
  if (auto ok = start(requests); !ok) return ok;
  std::vector<int> left;
  int steps = 0;
  for (const Request& request : requests) {
    left.push_back(request.max_tokens);
    steps = std::max(steps, static_cast<int>(request.prompt.size()) - 1 + request.max_tokens);
  }

  // Looks at the tokens of step `s`; false once no row wants another.
  const auto consume = [&](int s) {
    const int* tokens = step.ring + static_cast<std::ptrdiff_t>(s % kSlots) * step.rows;
    for (std::size_t row = 0; row < requests.size(); ++row) {
      const Request& request = requests[row];
      if (left[row] == 0 || s + 1 < static_cast<int>(request.prompt.size())) continue;
      if (!request.ignore_eos && std::ranges::count(step.config.stop_tokens, tokens[row])) {
        left[row] = 0;
        continue;
      }
      on_token(static_cast<int>(row), tokens[row]);
      --left[row];
    }
    return std::ranges::any_of(left, [](int n) { return n > 0; });
  };

  for (int s = 0; s <= steps; ++s) {
    if (s < steps)
      if (auto ok = done(enqueue(bucket, s), fmt::format("step {}", s)); !ok) return ok;
    if (s == 0) continue;
    if (auto ok = done(cudaEventSynchronize(ready_[(s - 1) % kSlots]), fmt::format("step {}", s - 1)); !ok)
      return ok;
    if (!consume(s - 1)) break;
  }
  return done(cudaStreamSynchronize(engine_.stream()), "the last step");
}

}  // namespace dsv4::cuda
