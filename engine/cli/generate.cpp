#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "engine/cli/commands.h"
#include "engine/cli/devices.h"
#include "engine/cli/generate_options.h"
#include "engine/reference/model.h"

namespace dsv4::cli {
namespace {

capgate::Result<void> generate(const GenerateOptions& options) {
  using capgate::Error;
  if (options.device == "cpu" && options.mode != "eager")
    return Error{fmt::format("mode {} needs --device cuda", options.mode)};
  auto model = open_model(options.model);
  if (!model) return Error{model.error()};
  const ModelConfig& config = model->config;
  for (const int id : options.prompt)
    if (id < 0 || id >= config.vocab_size)
      return Error{
          fmt::format("token {} of the prompt is outside the vocabulary of {}", id, config.vocab_size)};
  const auto positions = static_cast<std::int64_t>(options.prompt.size()) + options.max_tokens;
  if (positions > config.max_positions)
    return Error{fmt::format("{} tokens of prompt and {} new ones are more than the model's {} positions",
                             options.prompt.size(), options.max_tokens, config.max_positions)};

#ifdef DSV4_CUDA
  if (options.device == "cuda") return generate_cuda(options, *model);
#endif

  reference::Model<float> engine(config, model->weights, 1, static_cast<int>(positions));
  std::vector<float> logits(static_cast<std::size_t>(config.vocab_size));
  int made = 0;
  std::int32_t id = options.prompt.front();
  for (std::int32_t position = 0; made < options.max_tokens; ++position) {
    engine.step(std::span(&id, 1), std::span(&position, 1), logits);
    if (position + 1 < static_cast<std::int32_t>(options.prompt.size())) {
      id = options.prompt[position + 1];
      continue;
    }
    id = next_token(std::span<const float>(logits), options.sampling, position);
    if (!options.ignore_eos && std::ranges::count(config.stop_tokens, id)) break;
    fmt::print("{}{}", made == 0 ? "" : " ", id);
    std::fflush(stdout);
    ++made;
  }
  fmt::print("\n");
  return {};
}

}  // namespace

void add_generate(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* command =
      app.add_subcommand("generate", "Continue a prompt; prints the new token ids on one line.");
  command->add_option("--model", options->model, "Directory with config.json and safetensors files")
      ->required();
  command->add_option("--prompt-ids", options->prompt, "Token ids, separated by commas")
      ->required()
      ->delimiter(',');
  command->add_option("--max-tokens", options->max_tokens, "New tokens at most")
      ->required()
      ->check(CLI::Range(1, 1 << 30));
  command->add_flag("--ignore-eos", options->ignore_eos, "Go on past a stop token");
  command
      ->add_option("--temperature", options->sampling.temperature,
                   "0: always the most likely token (default)")
      ->check(CLI::Range(0.0, 1e6));
  command
      ->add_option("--top-k", options->sampling.top_k,
                   "Sample from the k most likely tokens; 0: from all (default)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--seed", options->sampling.seed, "Of the sampling (default 0)");
  add_device_option(*command, options->device);
#ifdef DSV4_CUDA
  command
      ->add_option("--mode", options->mode,
                   "On the CUDA device: eager (default), or full: one graph, behind the gate")
      ->check(CLI::IsMember({"eager", "full"}));
  command->add_option("--gate", options->gate, "For full: the report that says pass about this program");
  command
      ->add_option("--on-dirty", options->on_dirty,
                   "When the gate is closed: refuse (default), or eager: decode without graphs")
      ->check(CLI::IsMember({"refuse", "eager"}));
#endif
  command->callback([options, &exit_code] {
    const auto done = generate(*options);
    if (done) return;
    fmt::print(stderr, "dsv4 generate: {}\n", done.error());
    exit_code = capgate::kExitInconclusive;
  });
}

}  // namespace dsv4::cli
