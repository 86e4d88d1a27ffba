#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "engine/cli/arguments/commands.h"
#include "engine/cli/arguments/complain.h"
#include "engine/cli/arguments/model_source.h"
#include "engine/cli/graphs/gate_subject.h"
#include "engine/cuda/loop/decode_loop.h"
#include "engine/cuda/memory/status.h"
#include "kernels/launch.h"
#include "kernels/profile.h"
#include "kernels/read_bandwidth.h"

namespace dsv4::cli {
namespace {

using capgate::Error;
using capgate::Result;
using Clock = std::chrono::steady_clock;

constexpr int kPageTokens = 256;

struct BenchOptions {
  ModelSource source;
  std::vector<std::string> gates;
  std::string mode;
  int tokens = 64, context = 16, rows = 1, chunk = 1;
  bool overlap = true, profile = false;
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

std::vector<int> buckets(const BenchOptions& options) {
  std::vector<int> of = {options.rows};
  if (options.chunk > options.rows) of.push_back(options.chunk);
  return of;
}

struct Times {
  double step = 1e30;    // seconds, with the reading of its tokens
  double prompt = 1e30;  // seconds up to the first new token of every row
};

// Each row continues a prompt of its own.
std::vector<Request> requests_of(const BenchOptions& options, int vocab) {
  std::vector<Request> requests(static_cast<std::size_t>(options.rows));
  for (int row = 0; row < options.rows; ++row) {
    Request& request = requests[static_cast<std::size_t>(row)];
    for (int i = 0; i < options.context; ++i) request.prompt.push_back((131 * row + 17 * i) % vocab);
    request.max_tokens = options.tokens;
    request.ignore_eos = true;
  }
  return requests;
}

// Of the decode loop, each the best of three.
Result<Times> loop_times(cuda::Engine& engine, const cuda::CapturedStep* captured,
                         const BenchOptions& options) {
  auto loop = cuda::DecodeLoop::create(engine, captured);
  if (!loop) return Error{loop.error()};
  const auto requests = requests_of(options, engine.step().config.vocab_size);
  Times best;
  for (int i = 0; i < 3; ++i) {
    const auto start = Clock::now();
    Clock::time_point first;
    std::vector<int> seen(requests.size());
    std::size_t begun = 0, left = 0;
    auto ok =
        (*loop)->run(requests, {options.rows, std::max(options.rows, options.chunk)}, [&](int row, int) {
          if (seen[static_cast<std::size_t>(row)]++ == 0 && ++begun == seen.size()) {
            first = Clock::now();
            for (const int tokens : seen)
              left = std::max(left, static_cast<std::size_t>(options.tokens - tokens));
          }
        });
    if (!ok) return Error{ok.error()};
    best.step =
        std::min(best.step, seconds_since(first) / static_cast<double>(std::max<std::size_t>(1, left)));
    best.prompt = std::min(best.prompt, std::chrono::duration<double>(first - start).count());
  }
  return best;
}

// Where the time of eager steps goes, launch by launch: of those that decode, or of all.
Result<void> profile(cuda::Engine& engine, const BenchOptions& options) {
  auto loop = cuda::DecodeLoop::create(engine, nullptr);
  if (!loop) return Error{loop.error()};
  cuda::DeviceMemory memory;
  auto* stamps = memory.take<std::uint64_t>(kernels::Profile::kMostStamps);
  if (auto ok = memory.state(); !ok) return Error{ok.error()};
  kernels::Profile of(engine.stream(), stamps);
  std::size_t begun = 0;
  std::vector<int> seen(static_cast<std::size_t>(options.rows));
  const auto requests = requests_of(options, engine.step().config.vocab_size);
  auto ok = (*loop)->run(requests, {options.rows, std::max(options.rows, options.chunk)}, [&](int row, int) {
    if (seen[static_cast<std::size_t>(row)]++ == 0 && ++begun == seen.size()) of.start();
  });
  of.stop();
  if (!ok) return ok;
  std::vector<std::uint64_t> times(static_cast<std::size_t>(of.count()));
  if (auto read = cuda::done(
          cudaMemcpy(times.data(), stamps, times.size() * sizeof(times[0]), cudaMemcpyDeviceToHost),
          "reading the times");
      !read)
    return read;
  fmt::print("profile of steps after the prompt: launch, launches a step, us each, us a step\n");
  int steps = 1;
  for (const auto& line : of.lines(times))
    if (line.name == "stamp") steps = std::max(1, line.launches);
  for (const auto& line : of.lines(times))
    fmt::print("  {:20} {:8.2f} {:9.2f} {:10.1f}\n", line.name, static_cast<double>(line.launches) / steps,
               line.seconds * 1e6 / line.launches, line.seconds * 1e6 / steps);
  return {};
}

// Seconds that the host spends in putting one step on the stream; the least of some.
double launch_time(cuda::Engine& engine, const cuda::CapturedStep& captured, int bucket) {
  double best = 1e30;
  for (int i = 0; i < 20; ++i) {
    cudaStreamSynchronize(engine.stream());
    const auto start = Clock::now();
    captured.launch(bucket);
    best = std::min(best, seconds_since(start));
  }
  return best;
}

bool wants(const BenchOptions& options, cuda::Mode mode) {
  const std::string asked = !options.mode.empty() ? options.mode : options.gates.empty() ? "eager" : "both";
  if (asked == "all") return true;
  if (asked == "both") return mode != cuda::Mode::kPiecewise;
  return mode == cuda::mode_of(asked);
}

// One of the reports has to open the mode; else what the last of them is refused for.
Result<void> ask_gates(const BenchOptions& options, cuda::Mode mode, const ModelConfig& config) {
  if (options.gates.empty()) return ask_gate("", mode, config, buckets(options));
  Result<void> answer;
  for (const std::string& gate : options.gates) {
    answer = ask_gate(gate, mode, config, buckets(options));
    if (answer) break;
  }
  return answer;
}

constexpr cuda::Mode kReplaying[] = {cuda::Mode::kPiecewise, cuda::Mode::kFull};

// A line of the table.
struct Row {
  const char* mode;
  const char* ordering;
  Times times;
};

Result<void> bench(const BenchOptions& options) {
  kernels::set_overlap(options.overlap);
  cuda::EngineOptions size;
  size.rows = options.rows;
  size.lanes = std::max(options.rows, options.chunk);
  size.chunk = options.chunk;
  size.max_positions = options.context + options.tokens;
  auto model = open_source(options.source, size.rows, size.max_positions, cuda::room_for_weights);
  if (!model) return Error{model.error()};
  size.unmade = model->unmade.get();
  if (size.max_positions > model->config.max_positions)
    return Error{fmt::format("{} positions are more than the model's {}", size.max_positions,
                             model->config.max_positions)};
  // As `generate` has it.
  size.page_tokens = cuda::page_tokens_for(model->config, kPageTokens);
  size.pages = size.rows * ((size.max_positions + size.page_tokens - 1) / size.page_tokens);
  for (const cuda::Mode mode : kReplaying)
    if (wants(options, mode))
      if (auto gate = ask_gates(options, mode, model->config); !gate) return gate;
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
  const auto show = [&](const Row& row) {
    fmt::print("{:9}{} {:9.3f} ms a token of {} row{}, {:.1f} % of the read bandwidth by weights alone\n",
               row.mode, row.ordering, row.times.step * 1e3, options.rows, options.rows == 1 ? "" : "s",
               100 * bytes / row.times.step / *bandwidth);
    if (options.chunk > 1)
      fmt::print("{:9}{} {:9.0f} tokens of prompt a second, up to {} in a step\n", row.mode, row.ordering,
                 options.rows * options.context / row.times.prompt, options.chunk);
  };
  double eager_time = 0;
  if (wants(options, cuda::Mode::kEager)) {
    auto times = loop_times(**engine, nullptr, options);
    if (!times) return Error{times.error()};
    eager_time = times->step;
    show({"eager", "", *times});
    if (options.profile)
      if (auto ok = profile(**engine, options); !ok) return ok;
  }
  for (const cuda::Mode mode : kReplaying) {
    if (!wants(options, mode)) continue;
    auto captured = cuda::capture_step(**engine, mode, buckets(options));
    if (!captured) return Error{captured.error()};
    const auto measure = [&](cuda::Ordering ordering, const char* how) -> Result<void> {
      (*captured)->order_by(ordering);
      auto replayed = loop_times(**engine, captured->get(), options);
      if (!replayed) return Error{replayed.error()};
      show({cuda::name_of(mode), how, *replayed});
      if (eager_time > 0)
        fmt::print("{} is {:.2f} times as fast as eager\n", cuda::name_of(mode), eager_time / replayed->step);
      fmt::print("{} graph{}, {} nodes; a step takes the host {:.1f} us to launch\n",
                 (*captured)->graphs(options.rows), (*captured)->graphs(options.rows) == 1 ? "" : "s",
                 (*captured)->nodes(options.rows), launch_time(**engine, **captured, options.rows) * 1e6);
      return {};
    };
    if (mode == cuda::Mode::kFull) {
      if (auto ok = measure(cuda::Ordering::kPerStep, ""); !ok) return ok;
      continue;
    }
    if (auto ok = measure(cuda::Ordering::kPerStep, ", an event a step  "); !ok) return ok;
    if (auto ok = measure(cuda::Ordering::kPerLayer, ", two events a layer"); !ok) return ok;
  }
  if (options.mode.empty() && options.gates.empty()) fmt::print("full   not measured: it needs --gate\n");
  return {};
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand("bench", "Time of a token, eager and (with --gate) from graphs.");
  add_model_source(*command, options->source);
  command->add_option("--gate", options->gates,
                      "The report that lets this program replay graphs; again for another mode's report");
  command
      ->add_option("--mode", options->mode,
                   "eager, piecewise, full, both (eager and full) or all (default: both with --gate, else "
                   "eager); piecewise and full need --gate")
      ->check(CLI::IsMember({"eager", "piecewise", "full", "both", "all"}));
  command->add_flag("--overlap,!--no-overlap", options->overlap,
                    "Whether a kernel is placed while the one before it drains (default: yes)");
  command->add_flag("--profile", options->profile, "Where the time of an eager step goes, launch by launch");
  command->add_option("--tokens", options->tokens, "New tokens (default 64)")->check(CLI::Range(2, 1 << 20));
  command->add_option("--context", options->context, "Tokens before them (default 16)")
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--rows", options->rows, "Rows of the batch (default 1)")->check(CLI::Range(1, 64));
  command
      ->add_option(
          "--chunk", options->chunk,
          "Most tokens of a prompt in one step (default 1); more than rows are a bucket of their own")
      ->check(CLI::Range(1, 64));
  command->callback([options, &exit_code] {
    const auto done = bench(*options);
    if (done) return;
    complain("bench", done.error());
    exit_code = capgate::kExitInconclusive;
  });
}

}  // namespace dsv4::cli
