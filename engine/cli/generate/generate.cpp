#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "engine/cli/arguments/commands.h"
#include "engine/cli/arguments/complain.h"
#include "engine/cli/arguments/devices.h"
#include "engine/cli/arguments/number_checks.h"
#include "engine/cli/arguments/token_ids.h"
#include "engine/cli/generate/answers.h"
#include "engine/cli/generate/generate_options.h"
#include "engine/cli/generate/prompts.h"
#include "engine/reference/decode_rows.h"
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

capgate::Result<void> decode(const GenerateOptions& options, const OpenModel& model,
                             const std::vector<Request>& requests, const AnswerSink& sink) {
#ifdef DSV4_CUDA
  if (options.device == "cuda") return generate_cuda(options, model, requests, sink);
#endif
  auto done = reference::decode_rows(model.config, model.weights, requests, options.rows, options.chunk,
                                     sink.on_token, sink.on_end);
  if (done) return done;
  return capgate::Error{fmt::format("{}: {}", options.model, done.error())};
}

capgate::Result<void> generate_many(const GenerateOptions& options) {
  auto model = open_model(options.model);
  if (!model) return capgate::Error{model.error()};
  auto prompts = read_prompts(options.prompts, options.request, options.model, model->config);
  if (!prompts) return capgate::Error{prompts.error()};
  Answers answers(*prompts);
  return decode(options, *model, prompts->requests,
                {[&](int request, int token) { answers.add(request, token); },
                 [&](int request, Arrival arrival) { answers.end(request, arrival); }});
}

capgate::Result<void> generate(GenerateOptions options) {
  using capgate::Error;
  if (options.device == "cpu" && options.mode != "eager")
    return Error{fmt::format("mode {} needs --device cuda", options.mode)};
  // Who gives a report expects graphs.
  if (options.mode == "eager" && !options.gate.empty())
    return Error{"--gate is for a mode that replays graphs, full or piecewise; the mode is eager"};
  if (!options.prompts.empty()) return generate_many(options);
  std::vector<int>& prompt = options.request.prompt;
  std::optional<Tokenizer> tokenizer;
  if (prompt.empty()) {
    auto opened = Tokenizer::open(options.model);
    if (!opened) return Error{opened.error()};
    tokenizer.emplace(std::move(*opened));
    auto ids = tokenizer->encode(options.text);
    if (!ids) return Error{fmt::format("the prompt: {}", ids.error())};
    if (ids->empty()) return Error{"the prompt is empty"};
    prompt = std::move(*ids);
  }
  auto model = open_model(options.model);
  if (!model) return Error{model.error()};
  const ModelConfig& config = model->config;
  for (const int id : prompt)
    if (id < 0 || id >= config.vocab_size)
      return Error{
          fmt::format("token {} of the prompt is outside the vocabulary of {}", id, config.vocab_size)};
  const auto positions = static_cast<std::int64_t>(prompt.size()) + options.request.max_tokens;
  if (positions > config.max_positions)
    return Error{fmt::format("{} tokens of prompt and {} new ones are more than the model's {} positions",
                             prompt.size(), options.request.max_tokens, config.max_positions)};
  Output output(tokenizer ? &*tokenizer : nullptr);
  auto done = decode(options, *model, {options.request}, {[&](int, int token) { output(token); }, {}});
  if (done || output.started()) fmt::print("\n");
  return done;
}

}  // namespace

void add_generate(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* command = app.add_subcommand(
      "generate",
      "Continue a prompt, and print the new text, or for ids the new ids on one line; or many prompts, and "
      "print a JSON line for each as it ends.");
  command->add_option("--model", options->model, "Directory with config.json and safetensors files")
      ->required();
  auto* prompt = command->add_option_group("prompt");
  prompt->add_option(
      "--prompt", options->text,
      "Text, as it stands; needs the model's tokenizer.json. Its added tokens may be written out");
  add_token_ids(*prompt, "--prompt-ids", options->request.prompt, "Token ids, separated by commas");
  auto* prompts = prompt->add_option(
      "--prompts", options->prompts,
      "A file of JSON lines: {\"prompt\": TEXT} or {\"prompt_ids\": [ID, …]} each, if wanted with \"id\", "
      "\"max_tokens\", \"temperature\", \"top_k\", \"seed\", \"ignore_eos\"");
  prompt->require_option(1);
  command->add_option("--rows", options->rows, "With --prompts: how many are decoded at a time (default: 1)")
      ->check(CLI::Range(1, 64))
      ->needs(prompts);
  command
      ->add_option(
          "--chunk", options->chunk,
          "With --prompts: most tokens of a prompt in one step (default: 1); on the CUDA device more than "
          "rows make a bucket of their own")
      ->check(CLI::Range(1, 64))
      ->needs(prompts);
  command->add_option("--max-tokens", options->request.max_tokens, "New tokens at most")
      ->required()
      ->check(CLI::Range(1, 1 << 30));
  command->add_flag("--ignore-eos", options->request.ignore_eos, "Go on past a stop token");
  command
      ->add_option("--temperature", options->request.sampling.temperature,
                   "0: always the most likely token (default); else from 0.000001 to 1000000")
      ->check(is_temperature, "");
  command
      ->add_option("--top-k", options->request.sampling.top_k,
                   "Sample from the k most likely tokens; 0: from all (default)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--seed", options->request.sampling.seed, "Of the sampling (default 0)")
      ->check(is_seed, "");
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
