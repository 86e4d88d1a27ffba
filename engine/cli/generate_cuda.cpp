#include <fmt/format.h>

#include <optional>

#include "engine/cli/complain.h"
#include "engine/cli/gate_subject.h"
#include "engine/cli/generate_options.h"
#include "engine/cuda/decode_loop.h"

namespace dsv4::cli {

using capgate::Error;

capgate::Result<void> generate_cuda(const GenerateOptions& options, const OpenModel& model,
                                    const std::function<void(int token)>& on_token) {
  constexpr int kBucket = 1;
  bool full = options.mode == "full";
  if (full) {
    const auto gate = ask_gate(options.gate, options.mode, model.config, {kBucket});
    if (!gate && options.on_dirty == "refuse") return gate;
    if (!gate) {
      complain("generate", gate.error());
      complain("generate", "decoding without graphs");
      full = false;
    }
  }
  const int prompt = static_cast<int>(options.prompt.size());
  cuda::EngineOptions size;
  size.rows = kBucket;
  size.max_positions = prompt + options.max_tokens;
  size.prompt_capacity = prompt;
  auto engine = cuda::Engine::create(model.config, model.weights, size);
  if (!engine) return Error{engine.error()};
  std::optional<cuda::StepGraphs> graphs;
  if (full) {
    auto captured = cuda::StepGraphs::capture(**engine, {kBucket});
    if (!captured) return Error{captured.error()};
    graphs.emplace(std::move(*captured));
  }
  auto loop = cuda::DecodeLoop::create(**engine, graphs ? &*graphs : nullptr);
  if (!loop) return Error{loop.error()};
  const cuda::Request request{options.prompt, options.max_tokens, options.ignore_eos, options.sampling};
  return (*loop)->run({request}, kBucket, [&](int, int token) { on_token(token); });
}

}  // namespace dsv4::cli
