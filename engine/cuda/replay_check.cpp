#include "engine/cuda/replay_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/cuda/decode_loop.h"
#include "engine/cuda/status.h"
#include "engine/cuda/step_graphs.h"
#include "engine/weights/generator.h"

namespace dsv4::cuda {

using capgate::Error;
using capgate::Result;

namespace {

constexpr int kMostPrompt = 40;
using Tokens = std::vector<std::vector<int>>;

std::vector<Request> requests_of(const ModelConfig& config, int rows, int tokens, std::uint64_t seed) {
  const std::uint64_t key = tensor_key(seed, "replay");
  std::uint64_t next = 0;
  const auto below = [&](int n) {
    return static_cast<int>(element_bits(key, next++) % static_cast<std::uint64_t>(n));
  };
  std::vector<Request> requests(static_cast<std::size_t>(rows));
  for (std::size_t row = 0; row < requests.size(); ++row) {
    Request& request = requests[row];
    for (int i = below(kMostPrompt) + 1; i > 0; --i) request.prompt.push_back(below(config.vocab_size));
    request.max_tokens = tokens;
    request.ignore_eos = true;
    if (row % 2 == 1) request.sampling = {0.9, 1 + below(20), static_cast<std::uint64_t>(below(1 << 20))};
  }
  return requests;
}

Result<Tokens> decode(Engine& engine, const StepGraphs* graphs, const std::vector<Request>& requests,
                      int bucket) {
  if (auto ok = engine.poison(); !ok) return Error{ok.error()};
  auto loop = DecodeLoop::create(engine, graphs);
  if (!loop) return Error{loop.error()};
  Tokens tokens(requests.size());
  auto ok = (*loop)->run(requests, bucket,
                         [&](int row, int token) { tokens[static_cast<std::size_t>(row)].push_back(token); });
  if (!ok) return Error{ok.error()};
  return tokens;
}

// Of the last step, the rows of the requests.
Result<std::vector<float>> last_logits(Engine& engine, std::size_t rows) {
  std::vector<float> logits(rows * static_cast<std::size_t>(engine.step().config.vocab_size));
  cudaError_t status = cudaMemcpyAsync(logits.data(), engine.step().a.logits, logits.size() * sizeof(float),
                                       cudaMemcpyDeviceToHost, engine.stream());
  if (status == cudaSuccess) status = cudaStreamSynchronize(engine.stream());
  if (auto ok = done(status, "reading the logits"); !ok) return Error{ok.error()};
  return logits;
}

Result<std::size_t> free_memory() {
  std::size_t free = 0, total = 0;
  if (auto ok = done(cudaMemGetInfo(&free, &total), "asking for free memory"); !ok) return Error{ok.error()};
  return free;
}

Result<ReplayRound> round_of(Engine& eager, Engine& full, const StepGraphs& graphs, int bucket, int round,
                             int tokens) {
  ReplayRound out;
  out.bucket = bucket;
  out.rows = bucket - (bucket > 1 && round % 2 == 1 ? 1 : 0);
  const auto requests =
      requests_of(full.step().config, out.rows, tokens,
                  static_cast<std::uint64_t>(bucket) << 32 | static_cast<std::uint32_t>(round));
  auto wanted = decode(eager, nullptr, requests, bucket);
  if (!wanted) return Error{wanted.error()};
  auto got = decode(full, &graphs, requests, bucket);
  if (!got) return Error{got.error()};
  for (const auto& row : *got) out.tokens += static_cast<int>(row.size());
  out.tokens_equal = *wanted == *got && out.tokens == out.rows * tokens;
  auto a = last_logits(eager, requests.size()), b = last_logits(full, requests.size());
  if (!a) return Error{a.error()};
  if (!b) return Error{b.error()};
  out.logits_equal = std::memcmp(a->data(), b->data(), a->size() * sizeof(float)) == 0;
  return out;
}

}  // namespace

bool ReplayReport::ok() const {
  return memory_flat && std::ranges::all_of(rounds, &ReplayRound::ok);
}

Result<ReplayReport> check_replay(const ModelConfig& config, const ModelWeights& weights,
                                  const std::vector<int>& buckets, int rounds, int tokens) {
  EngineOptions size;
  size.rows = *std::ranges::max_element(buckets);
  size.prompt_capacity = kMostPrompt;
  size.max_positions = kMostPrompt + tokens;
  if (size.max_positions > config.max_positions)
    return Error{
        fmt::format("{} positions are more than the model's {}", size.max_positions, config.max_positions)};
  auto eager = Engine::create(config, weights, size), full = Engine::create(config, weights, size);
  if (!eager) return Error{eager.error()};
  if (!full) return Error{full.error()};
  auto graphs = StepGraphs::capture(**full, buckets);
  if (!graphs) return Error{graphs.error()};
  ReplayReport report;
  std::size_t first = 0;
  for (int round = 0; round < rounds; ++round) {
    for (const int bucket : buckets) {
      auto one = round_of(**eager, **full, *graphs, bucket, round, tokens);
      if (!one) return Error{one.error()};
      report.rounds.push_back(*one);
    }
    const auto free = free_memory();
    if (!free) return Error{free.error()};
    if (round == 0) first = *free;
    report.memory_flat = *free == first;
  }
  return report;
}

}  // namespace dsv4::cuda
