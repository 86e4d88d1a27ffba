#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "engine/cli/commands.h"
#include "engine/cli/complain.h"
#include "engine/cli/devices.h"
#include "engine/cli/generate_options.h"
#include "engine/cli/number_checks.h"
#include "engine/cli/token_ids.h"
#include "engine/reference/model.h"
#include "engine/tokenizer/tokenizer.h"

namespace dsv4::cli {
namespace {

// New tokens on standard output as they come: as text where the prompt was text, else as ids on one line.
class Output {
 public:
  explicit Output(const Tokenizer* tokenizer) : tokenizer_(tokenizer) {}
  void operator()(int token) {
    if (tokenizer_ == nullptr)
      fmt::print("{}{}", first_ ? "" : " ", token);
    else
      fmt::print("{}", tokenizer_->bytes(token));
    std::fflush(stdout);
    first_ = false;
  }
  bool started() const { return !first_; }

 private:
  const Tokenizer* tokenizer_;
  bool first_ = true;
};

// What is not a number has no largest one, and where an infinity was normalised away all are equal: a token
// would be printed that nothing speaks for.
bool tell_tokens_apart(const std::vector<float>& logits) {
  const bool finite = std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); });
  const bool differ = std::ranges::any_of(logits, [&](float logit) { return logit != logits.front(); });
  return finite && (differ || logits.size() == 1);
}

capgate::Result<void> generate_cpu(const GenerateOptions& options, const OpenModel& model, Output& on_token) {
  const ModelConfig& config = model.config;
  const auto prompt = static_cast<std::int32_t>(options.prompt.size());
  reference::Model<float> engine(config, model.weights, 1, prompt + options.max_tokens);
  std::vector<float> logits(static_cast<std::size_t>(config.vocab_size));
  int made = 0;
  std::int32_t id = options.prompt.front();
  for (std::int32_t position = 0; made < options.max_tokens; ++position) {
    engine.step(std::span(&id, 1), std::span(&position, 1), logits);
    if (position + 1 < prompt) {
      id = options.prompt[static_cast<std::size_t>(position) + 1];
      continue;
    }
    if (!tell_tokens_apart(logits))
      return capgate::Error{
          fmt::format("{}: the logits of position {} tell no token from another: the model's weights, or the "
                      "scales of its config.json, are beyond single precision",
                      options.model, position)};
    id = next_token(std::span<const float>(logits), options.sampling, position);
    if (!options.ignore_eos && std::ranges::count(config.stop_tokens, id)) break;
    on_token(id);
    ++made;
  }
  return {};
}

capgate::Result<void> generate(GenerateOptions options) {
  using capgate::Error;
  if (options.device == "cpu" && options.mode != "eager")
    return Error{fmt::format("mode {} needs --device cuda", options.mode)};
  // Who gives a report expects graphs.
  if (options.mode == "eager" && !options.gate.empty())
    return Error{"--gate is for a mode that replays graphs, full or piecewise; the mode is eager"};
  std::optional<Tokenizer> tokenizer;
  if (options.prompt.empty()) {
    auto opened = Tokenizer::open(options.model);
    if (!opened) return Error{opened.error()};
    tokenizer.emplace(std::move(*opened));
    auto ids = tokenizer->encode(options.text);
    if (!ids) return Error{fmt::format("the prompt: {}", ids.error())};
    if (ids->empty()) return Error{"the prompt is empty"};
    options.prompt = std::move(*ids);
  }
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
  Output output(tokenizer ? &*tokenizer : nullptr);
#ifdef DSV4_CUDA
  auto done = options.device == "cuda" ? generate_cuda(options, *model, std::ref(output))
                                       : generate_cpu(options, *model, output);
#else
  auto done = generate_cpu(options, *model, output);
#endif
  if (done || output.started()) fmt::print("\n");
  return done;
}

}  // namespace

void add_generate(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* command = app.add_subcommand(
      "generate", "Continue a prompt; prints the new text, or for ids the new ids on one line.");
  command->add_option("--model", options->model, "Directory with config.json and safetensors files")
      ->required();
  auto* prompt = command->add_option_group("prompt");
  prompt->add_option(
      "--prompt", options->text,
      "Text, as it stands; needs the model's tokenizer.json. Its added tokens may be written out");
  add_token_ids(*prompt, "--prompt-ids", options->prompt, "Token ids, separated by commas");
  prompt->require_option(1);
  command->add_option("--max-tokens", options->max_tokens, "New tokens at most")
      ->required()
      ->check(CLI::Range(1, 1 << 30));
  command->add_flag("--ignore-eos", options->ignore_eos, "Go on past a stop token");
  command
      ->add_option("--temperature", options->sampling.temperature,
                   "0: always the most likely token (default); else from 0.000001 to 1000000")
      ->check(is_temperature, "");
  command
      ->add_option("--top-k", options->sampling.top_k,
                   "Sample from the k most likely tokens; 0: from all (default)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--seed", options->sampling.seed, "Of the sampling (default 0)")->check(is_seed, "");
  add_device_option(*command, options->device);
#ifdef DSV4_CUDA
  command
      ->add_option("--mode", options->mode,
                   "On the CUDA device: eager (default); or behind the gate full: one graph, or piecewise: "
                   "graphs with breaks at attention")
      ->check(CLI::IsMember({"eager", "full", "piecewise"}));
  command->add_option("--gate", options->gate,
                      "For full and piecewise: the report that says pass about this program in that mode");
  command
      ->add_option("--on-dirty", options->on_dirty,
                   "When the gate is closed: refuse (default), or eager: decode without graphs")
      ->check(CLI::IsMember({"refuse", "eager"}));
#endif
  command->callback([options, &exit_code] {
    const auto done = generate(*options);
    if (done) return;
    complain("generate", done.error());
    exit_code = capgate::kExitInconclusive;
  });
}

}  // namespace dsv4::cli
