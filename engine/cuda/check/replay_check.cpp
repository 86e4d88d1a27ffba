#include "engine/cuda/check/replay_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/cuda/loop/decode_loop.h"
#include "engine/cuda/memory/status.h"
#include "engine/weights/generator.h"

namespace dsv4::cuda {

using capgate::Error;
using capgate::Result;

namespace {

constexpr int kMostPrompt = 40, kMostChunk = 3;

std::vector<Request> requests_of(const ModelConfig& config, int count, int tokens, std::uint64_t seed) {
  const std::uint64_t key = tensor_key(seed, "replay");
  std::uint64_t next = 0;
  const auto below = [&](int n) {
    return static_cast<int>(element_bits(key, next++) % static_cast<std::uint64_t>(n));
  };
  std::vector<Request> requests(static_cast<std::size_t>(count));
  for (std::size_t number = 0; number < requests.size(); ++number) {
    Request& request = requests[number];
    for (int i = below(kMostPrompt) + 1; i > 0; --i) request.prompt.push_back(below(config.vocab_size));
    request.max_tokens = number == 0 ? tokens : 1 + below(tokens);
    request.ignore_eos = true;
    if (number % 2 == 1) request.sampling = {0.9, 1 + below(20), static_cast<std::uint64_t>(below(1 << 20))};
  }
  return requests;
}

// One engine's side of a round.
struct Side {
  std::vector<std::vector<int>> tokens;  // of each request
  int steps = 0;
  std::vector<float> logits;  // [steps, bucket, vocab]
};

// Steps that a run takes when no answer stops early.
int steps_of(const Step& step, const std::vector<Request>& requests, int bucket) {
  Schedule schedule(requests,
                    {bucket, bucket, std::min(step.chunk, bucket), step.page_tokens, step.pages, {}});
  StepPlan plan;
  int steps = 0;
  while (schedule.next(plan)) ++steps;
  return steps;
}

Result<Side> decode(Engine& engine, const CapturedStep* captured, const std::vector<Request>& requests,
                    int bucket) {
  const auto vocab = static_cast<std::size_t>(engine.step().config.vocab_size);
  const std::size_t values = static_cast<std::size_t>(bucket) * vocab;
  Side side;
  DeviceMemory memory;
  const std::int64_t most = steps_of(engine.step(), requests, bucket);
  float* const kept = memory.take<float>(most * static_cast<std::int64_t>(values));
  if (auto ok = memory.state(); !ok) return Error{ok.error()};
  if (auto ok = engine.poison(); !ok) return Error{ok.error()};
  auto loop = DecodeLoop::create(engine, captured);
  if (!loop) return Error{loop.error()};
  (*loop)->watch([&](int step, const StepPlan&) {
    side.steps = step + 1;
    return cudaMemcpyAsync(kept + static_cast<std::size_t>(step) * values, engine.step().a.logits,
                           values * sizeof(float), cudaMemcpyDeviceToDevice, engine.stream());
  });
  side.tokens.resize(requests.size());
  auto ok = (*loop)->run(requests, bucket, [&](int request, int token) {
    side.tokens[static_cast<std::size_t>(request)].push_back(token);
  });
  if (!ok) return Error{ok.error()};
  side.logits.resize(static_cast<std::size_t>(side.steps) * values);
  cudaError_t status = cudaMemcpyAsync(side.logits.data(), kept, side.logits.size() * sizeof(float),
                                       cudaMemcpyDeviceToHost, engine.stream());
  if (status == cudaSuccess) status = cudaStreamSynchronize(engine.stream());
  if (auto read = done(status, "reading the logits"); !read) return Error{read.error()};
  return side;
}

Result<std::size_t> free_memory() {
  std::size_t free = 0, total = 0;
  if (auto ok = done(cudaMemGetInfo(&free, &total), "asking for free memory"); !ok) return Error{ok.error()};
  return free;
}

// The first step whose logits differ, or -1; 0 if one side took more steps than the other.
int first_apart(const Side& a, const Side& b) {
  if (a.steps != b.steps || a.logits.size() != b.logits.size()) return 0;
  const std::size_t values = a.steps == 0 ? 0 : a.logits.size() / static_cast<std::size_t>(a.steps);
  for (int step = 0; step < a.steps; ++step) {
    const std::size_t at = static_cast<std::size_t>(step) * values;
    if (std::memcmp(a.logits.data() + at, b.logits.data() + at, values * sizeof(float)) != 0) return step;
  }
  return -1;
}

Result<ReplayRound> round_of(Engine& eager, Engine& replaying, CapturedStep& captured, ReplayRound out,
                             const std::vector<Request>& requests) {
  captured.order_by(out.ordering);
  auto wanted = decode(eager, nullptr, requests, out.bucket);
  if (!wanted) return Error{wanted.error()};
  auto got = decode(replaying, &captured, requests, out.bucket);
  if (!got) return Error{got.error()};
  int promised = 0;
  for (const Request& request : requests) promised += request.max_tokens;
  for (const auto& row : got->tokens) out.tokens += static_cast<int>(row.size());
  out.steps = got->steps;
  out.tokens_equal = wanted->tokens == got->tokens && out.tokens == promised;
  out.first_apart = first_apart(*wanted, *got);
  return out;
}

}  // namespace

bool ReplayReport::ok() const {
  return memory_flat && std::ranges::all_of(rounds, &ReplayRound::ok);
}

Result<ReplayReport> check_replay(const ModelConfig& config, const ModelWeights& weights,
                                  const ReplayPlan& plan) {
  EngineOptions size;
  size.rows = *std::ranges::max_element(plan.buckets);
  size.chunk = std::min(size.rows, kMostChunk);
  size.max_positions = kMostPrompt + plan.tokens;
  size.page_tokens = page_tokens_for(config, 1);
  // Not as many pages as the rows may want, so that requests wait for pages, too.
  const int for_one = (size.max_positions + size.page_tokens - 1) / size.page_tokens;
  size.pages = std::max(for_one, size.rows * for_one * 3 / 4);
  if (size.max_positions > config.max_positions)
    return Error{
        fmt::format("{} positions are more than the model's {}", size.max_positions, config.max_positions)};
  auto eager = Engine::create(config, weights, size), replaying = Engine::create(config, weights, size);
  if (!eager) return Error{eager.error()};
  if (!replaying) return Error{replaying.error()};
  auto captured = capture_step(**replaying, plan.mode, plan.buckets);
  if (!captured) return Error{captured.error()};
  std::vector<Ordering> orderings = {Ordering::kPerStep};
  if (plan.mode == Mode::kPiecewise) orderings.push_back(Ordering::kPerLayer);
  ReplayReport report;
  report.memory_flat = true;
  std::size_t first = 0;
  for (int round = 0; round < plan.rounds; ++round) {
    for (const int bucket : plan.buckets) {
      ReplayRound asked;
      asked.bucket = bucket;
      asked.requests = round % 2 == 0 ? 2 * bucket + 1 : std::max(1, bucket - 1);
      const auto requests =
          requests_of(config, asked.requests, plan.tokens,
                      static_cast<std::uint64_t>(bucket) << 32 | static_cast<std::uint32_t>(round));
      for (const Ordering ordering : orderings) {
        asked.ordering = ordering;
        auto one = round_of(**eager, **replaying, **captured, asked, requests);
        if (!one) return Error{one.error()};
        report.rounds.push_back(*one);
      }
    }
    const auto free = free_memory();
    if (!free) return Error{free.error()};
    if (round == 0) first = *free;
    report.memory_flat = report.memory_flat && *free == first;
  }
  return report;
}

}  // namespace dsv4::cuda
