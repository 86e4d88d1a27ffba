#include "engine/weights/random_checkpoint.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "base/exit_code.h"
#include "engine/cli/arguments/commands.h"
#include "engine/cli/arguments/complain.h"
#include "engine/cli/arguments/number_checks.h"
#include "engine/weights/model_shapes.h"

namespace dsv4::cli {
namespace {

struct CheckpointOptions {
  std::string shape, out, weights;
  int layers = 0;
  std::uint64_t seed = 0;
};

// One line on a terminal, once a second, for what takes longer.
class Progress {
 public:
  void operator()(std::uint64_t done, std::uint64_t total) {
    const auto now = std::chrono::steady_clock::now();
    if (!isatty(STDERR_FILENO) || now < next_) return;
    next_ = now + std::chrono::seconds(1);
    fmt::print(stderr, "\r{:.0f}% of {:.1f} GiB",
               100.0 * static_cast<double>(done) / static_cast<double>(total),
               static_cast<double>(total) / double(1 << 30));
    shown_ = true;
  }
  ~Progress() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }

 private:
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  bool shown_ = false;
};

capgate::Result<RandomCheckpoint> write(const CheckpointOptions& options) {
  using capgate::Error;
  ModelConfig config = *model_shape(options.shape);
  if (options.layers > config.num_layers())
    return Error{fmt::format("the {} shape has {} layers, not {}", options.shape, config.num_layers(),
                             options.layers)};
  if (options.layers > 0) config = truncated(std::move(config), options.layers);
  const bool published = options.weights.empty() ? options.shape != "tiny" : options.weights == "checkpoint";
  Progress progress;
  if (published)
    config.expert_dtype = "fp4";
  else
    config.expert_dtype.clear();
  return write_random_checkpoint(config, options.seed, published ? Storage::kCheckpoint : Storage::kF32,
                                 options.out, std::ref(progress));
}

}  // namespace

void add_random_checkpoint(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CheckpointOptions>();
  CLI::App* command =
      app.add_subcommand("random-checkpoint", "Write a model with random weights, the same for a seed.");
  command->add_option("--shape", options->shape, "tiny, flash or pro")
      ->required()
      ->check(CLI::IsMember({"tiny", "flash", "pro"}));
  command->add_option("--layers", options->layers, "Only the first N layers")
      ->check(
          [](const std::string& word) {
            return CLI::PositiveNumber(word).empty() ? "" : "is a number above 0, not '" + word + "'";
          },
          "");
  command->add_option("--seed", options->seed, "Of the weights")->required()->check(is_seed, "");
  command
      ->add_option(
          "--weights", options->weights,
          "f32, or checkpoint: FP8, FP4 and BF16 as published (default: f32 for tiny, else checkpoint)")
      ->check(CLI::IsMember({"f32", "checkpoint"}));
  command->add_option("--out", options->out, "Directory to write to")->required();
  command->callback([options, &exit_code] {
    const auto done = write(*options);
    if (done) {
      fmt::print("{}: {:.1f} MiB in {} file{}\n", options->out,
                 static_cast<double>(done->bytes) / double(1 << 20), done->files,
                 done->files == 1 ? "" : "s");
      return;
    }
    complain("random-checkpoint", done.error());
    exit_code = capgate::kExitInconclusive;
  });
}

}  // namespace dsv4::cli
