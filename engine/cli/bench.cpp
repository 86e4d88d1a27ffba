#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "engine/cli/commands.h"
#include "engine/cli/complain.h"
#include "engine/cli/gate_subject.h"
#include "engine/cli/model_source.h"
#include "engine/cuda/decode_loop.h"
#include "engine/cuda/status.h"
#include "kernels/launch.h"
#include "kernels/read_bandwidth.h"

namespace dsv4::cli {
namespace {

using capgate::Error;
using capgate::Result;
using Clock = std::chrono::steady_clock;

struct Options {
  ModelSource source;
  std::string gate, mode;
  int tokens = 64, context = 16, rows = 1;
  bool overlap = true;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Bytes a second that a kernel reads which does nothing else; the best of a few runs.
Result<double> read_bandwidth(cudaStream_t stream) {
  constexpr std::int64_t kSize = std::int64_t{2} << 30;
  cuda::DeviceMemory memory;
  auto* data = memory.take<std::byte>(kSize);
  auto* sink = memory.take<unsigned>(1);
  if (auto ok = memory.state(); !ok) return Error{ok.error()};
  cudaMemsetAsync(data, 1, kSize, stream);
  double best = 0;
  for (int i = 0; i < 6; ++i) {
    cudaStreamSynchronize(stream);
    const auto start = Clock::now();
    kernels::read_all(stream, data, kSize, sink);
    if (auto ok = cuda::done(cudaStreamSynchronize(stream), "measuring the read bandwidth"); !ok)
      return Error{ok.error()};
    best = std::max(best, static_cast<double>(kSize) / seconds_since(start));
  }
  return best;
}

// Seconds a step of the decode loop, with its reading of tokens, after `context` tokens; best of three.
Result<double> step_time(cuda::Engine& engine, const cuda::StepGraphs* graphs, const Options& options) {
  auto loop = cuda::DecodeLoop::create(engine, graphs);
  if (!loop) return Error{loop.error()};
  std::vector<cuda::Request> requests(static_cast<std::size_t>(options.rows));
  for (int row = 0; row < options.rows; ++row) {
    cuda::Request& request = requests[static_cast<std::size_t>(row)];
    for (int i = 0; i < options.context; ++i)
      request.prompt.push_back((131 * row + 17 * i) % engine.step().config.vocab_size);
    request.max_tokens = options.tokens;
    request.ignore_eos = true;
  }
  double best = 1e30;
  for (int i = 0; i < 3; ++i) {
    Clock::time_point first;
    int seen = 0;
    auto ok = (*loop)->run(requests, options.rows, [&](int row, int) {
      if (row == 0 && seen++ == 0) first = Clock::now();
    });
    if (!ok) return Error{ok.error()};
    best = std::min(best, seconds_since(first) / std::max(1, options.tokens - 1));
  }
  return best;
}

// Seconds that the host spends in one launch of the graph; the least of some.
double launch_time(cuda::Engine& engine, const cuda::StepGraphs& graphs, int bucket) {
  double best = 1e30;
  for (int i = 0; i < 20; ++i) {
    cudaStreamSynchronize(engine.stream());
    const auto start = Clock::now();
    graphs.launch(bucket);
    best = std::min(best, seconds_since(start));
  }
  return best;
}

Result<void> bench(const Options& options) {
  kernels::set_overlap(options.overlap);
  cuda::EngineOptions size;
  size.rows = options.rows;
  size.prompt_capacity = options.context;
  size.max_positions = options.context + options.tokens;
  auto model = open_source(options.source, size.rows, size.max_positions, cuda::room_for_weights);
  if (!model) return Error{model.error()};
  size.unmade = model->unmade.get();
  if (size.max_positions > model->config.max_positions)
    return Error{fmt::format("{} positions are more than the model's {}", size.max_positions,
                             model->config.max_positions)};
  const bool full =
      options.mode == "full" || options.mode == "both" || (options.mode.empty() && !options.gate.empty());
  const bool eager = options.mode != "full";
  if (full)
    if (auto gate = ask_gate(options.gate, "full", model->config, {options.rows}); !gate) return gate;
  auto engine = cuda::Engine::create(model->config, model->weights, size);
  if (!engine) return Error{engine.error()};
  auto bandwidth = read_bandwidth((*engine)->stream());
  if (!bandwidth) return Error{bandwidth.error()};
  fmt::print("{} layers\n", model->config.num_layers());
  const double bytes = cuda::weight_bytes_per_token(model->config, (*engine)->step().weights);
  fmt::print(
      "weights {:.1f} MiB on the device, state {:.1f} MiB; a token of one row reads {:.2f} MiB of weights\n",
      static_cast<double>((*engine)->weight_bytes()) / (1 << 20),
      static_cast<double>((*engine)->state_bytes()) / (1 << 20), bytes / (1 << 20));
  fmt::print("read bandwidth measured: {:.2f} TB/s\n", *bandwidth / 1e12);
  const auto show = [&](const char* mode, double seconds) {
    fmt::print("{:6} {:9.3f} ms a token of {} row{}, {:.1f} % of the read bandwidth by weights alone\n", mode,
               seconds * 1e3, options.rows, options.rows == 1 ? "" : "s", 100 * bytes / seconds / *bandwidth);
  };
  double eager_time = 0;
  if (eager) {
    auto time = step_time(**engine, nullptr, options);
    if (!time) return Error{time.error()};
    show("eager", eager_time = *time);
  }
  if (!full) {
    if (options.mode.empty()) fmt::print("full   not measured: it needs --gate\n");
    return {};
  }
  auto graphs = cuda::StepGraphs::capture(**engine, {options.rows});
  if (!graphs) return Error{graphs.error()};
  auto replayed = step_time(**engine, &*graphs, options);
  if (!replayed) return Error{replayed.error()};
  show("full", *replayed);
  if (eager) fmt::print("full is {:.2f} times as fast as eager\n", eager_time / *replayed);
  fmt::print("{} nodes; a launch takes the host {:.1f} us\n", graphs->nodes(options.rows),
             launch_time(**engine, *graphs, options.rows) * 1e6);
  return {};
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("bench", "Time of a token, eager and (with --gate) as a graph.");
  add_model_source(*command, options->source);
  command->add_option("--gate", options->gate, "The report that lets this program replay graphs");
  command
      ->add_option("--mode", options->mode,
                   "eager, full or both (default: both with --gate, else eager); full needs --gate")
      ->check(CLI::IsMember({"eager", "full", "both"}));
  command->add_flag("--overlap,!--no-overlap", options->overlap,
                    "Whether a kernel is placed while the one before it drains (default: yes)");
  command->add_option("--tokens", options->tokens, "New tokens (default 64)")->check(CLI::Range(2, 1 << 20));
  command->add_option("--context", options->context, "Tokens before them (default 16)")
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--rows", options->rows, "Rows of the batch (default 1)")->check(CLI::Range(1, 64));
  command->callback([options, &exit_code] {
    const auto done = bench(*options);
    if (done) return;
    complain("bench", done.error());
    exit_code = capgate::kExitInconclusive;
  });
}

}  // namespace dsv4::cli
