#include "engine/cli/verify/verify_replay.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "engine/cli/arguments/open_model.h"
#include "engine/cli/graphs/gate_subject.h"
#include "engine/cuda/check/replay_check.h"

namespace dsv4::cli {

using capgate::Error;
using capgate::Result;

void add_replay_options(CLI::App& command, CLI::App& what, ReplayOptions& options) {
  auto* replay = what.add_flag(
      "--replay", options.replay,
      "Replays of the captured step against eager steps, bit for bit, on changed inputs and from "
      "poisoned buffers");
  command.add_option("--model", options.model, "With --replay: directory of the model")->needs(replay);
  command
      .add_option("--gate", options.gate, "With --replay: the report that lets this program replay graphs")
      ->needs(replay);
  command.add_option("--mode", options.mode, "With --replay: full (default) or piecewise, in both orderings")
      ->check(CLI::IsMember({"full", "piecewise"}))
      ->needs(replay);
  command.add_option("--buckets", options.buckets, "With --replay: batch sizes (default: 1,2,4)")
      ->delimiter(',')
      ->check(CLI::Range(1, 64))
      ->needs(replay);
  command
      .add_option("--rounds", options.rounds,
                  "With --replay: times that each bucket gets new inputs (default 3)")
      ->check(CLI::Range(1, 1000))
      ->needs(replay);
  command.add_option("--tokens", options.tokens, "With --replay: new tokens a row (default 48)")
      ->check(CLI::Range(1, 1 << 16))
      ->needs(replay);
}

Result<bool> verify_replay(const ReplayOptions& options) {
  if (options.model.empty()) return Error{"--replay needs --model"};
  auto model = open_model(options.model);
  if (!model) return Error{model.error()};
  const cuda::ReplayPlan plan{cuda::mode_of(options.mode), options.buckets, options.rounds, options.tokens};
  if (auto gate = ask_gate(options.gate, plan.mode, model->config, options.buckets); !gate)
    return Error{gate.error()};
  auto report = cuda::check_replay(model->config, model->weights, plan);
  if (!report) return Error{report.error()};
  for (const cuda::ReplayRound& round : report->rounds) {
    fmt::print("{} {}{}: {} requests, {} tokens, logits of {} steps{}", cuda::bucket_name(round.bucket),
               round.ok() ? "equal" : "APART",
               round.ordering == cuda::Ordering::kPerLayer ? ", ordered by each layer's events" : "",
               round.requests, round.tokens, round.steps, round.tokens_equal ? "" : "; other tokens");
    if (round.first_apart >= 0) fmt::print("; other logits first at step {}", round.first_apart);
    fmt::print("\n");
  }
  if (!report->memory_flat) fmt::print("APART: device memory was not the same after the first round\n");
  return report->ok();
}

}  // namespace dsv4::cli
