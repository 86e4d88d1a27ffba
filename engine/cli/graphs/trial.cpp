#include <capgate/capgate.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "engine/cli/arguments/commands.h"
#include "engine/cli/arguments/complain.h"
#include "engine/cli/arguments/model_source.h"
#include "engine/cli/graphs/gate_subject.h"
#include "engine/cuda/loop/decode_loop.h"

namespace dsv4::cli {
namespace {

using capgate::Error;

struct TrialOptions {
  ModelSource source;
  std::string mode = "full";
  std::vector<int> buckets = {1};
};

// Long enough that windows of every kind that fit close, and that the ring of the sliding window turns over.
constexpr int kPrompt = 5, kPositions = 64;

capgate::Result<void> trial(const TrialOptions& options) {
  if (!capgate_audited()) return Error{"a trial proves something only under capgate audit"};
  cuda::EngineOptions size;
  size.rows = *std::ranges::max_element(options.buckets);
  size.max_positions = kPositions;
  auto model = open_source(options.source, size.rows, size.max_positions, cuda::room_for_weights);
  if (!model) return Error{model.error()};
  const ModelConfig& config = model->config;
  const cuda::Mode mode = cuda::mode_of(options.mode);
  declare_subject(mode, config);
  size.max_positions = std::min(config.max_positions, kPositions);
  size.unmade = model->unmade.get();
  size.chunk = std::min(size.rows, kPrompt - 1);
  size.page_tokens = cuda::page_tokens_for(config, 1);
  size.pages = size.rows * ((size.max_positions + size.page_tokens - 1) / size.page_tokens);
  auto engine = cuda::Engine::create(config, model->weights, size);
  if (!engine) return Error{engine.error()};
  const auto run = [&](const cuda::CapturedStep* captured, int bucket, int tokens) -> capgate::Result<void> {
    auto loop = cuda::DecodeLoop::create(**engine, captured);
    if (!loop) return Error{loop.error()};
    // More requests than rows, which are taken up while others go on; the last prompts get spare lanes.
    std::vector<Request> requests(2 * static_cast<std::size_t>(bucket) + 1);
    for (int number = 0; Request & request : requests) {
      for (int i = 0; i <= number % kPrompt; ++i)
        request.prompt.push_back((7 * number + i) % config.vocab_size);
      request.max_tokens = std::max(1, tokens - 3 * (number % 4));
      request.ignore_eos = true;
      ++number;
    }
    return (*loop)->run(requests, bucket, [](int, int) {});
  };
  // The step itself first, as marked regions; then captured and replayed, bucket by bucket.
  for (const int bucket : options.buckets)
    if (auto ok = run(nullptr, bucket, 8); !ok) return ok;
  auto captured = cuda::capture_step(**engine, mode, options.buckets);
  if (!captured) return Error{captured.error()};
  const int tokens = std::max(1, size.max_positions - kPrompt);
  std::vector<cuda::Ordering> orderings = {cuda::Ordering::kPerStep};
  if (mode == cuda::Mode::kPiecewise) orderings.push_back(cuda::Ordering::kPerLayer);
  for (const cuda::Ordering ordering : orderings) {
    (*captured)->order_by(ordering);
    for (const int bucket : options.buckets)
      if (auto ok = run(captured->get(), bucket, tokens); !ok) return ok;
  }
  fmt::print("{} layers; captured and replayed:", config.num_layers());
  for (const int bucket : options.buckets)
    fmt::print(" {} ({} graph{}, {} nodes)", cuda::bucket_name(bucket), (*captured)->graphs(bucket),
               (*captured)->graphs(bucket) == 1 ? "" : "s", (*captured)->nodes(bucket));
  fmt::print("\n");
  return {};
}

}  // namespace

void add_trial(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<TrialOptions>();
  CLI::App* command = app.add_subcommand(
      "trial", "Run, capture and replay the decode step of each bucket, to be judged by capgate audit.");
  add_model_source(*command, options->source);
  command
      ->add_option("--mode", options->mode,
                   "full: the whole step as one graph (default); piecewise: graphs with breaks at attention")
      ->check(CLI::IsMember({"full", "piecewise"}));
  command->add_option("--buckets", options->buckets, "Batch sizes, separated by commas (default: 1)")
      ->delimiter(',')
      ->check(CLI::Range(1, 64));
  command->callback([options, &exit_code] {
    const auto done = trial(*options);
    if (done) return;
    complain("trial", done.error());
    exit_code = capgate::kExitInconclusive;
  });
}

}  // namespace dsv4::cli
