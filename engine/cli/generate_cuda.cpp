#include <fmt/format.h>

#include <memory>

#include "engine/cli/complain.h"
#include "engine/cli/gate_subject.h"
#include "engine/cli/generate_options.h"
#include "engine/cuda/decode_loop.h"

namespace dsv4::cli {

using capgate::Error;

capgate::Result<void> generate_cuda(const GenerateOptions& options, const OpenModel& model,
                                    const std::function<void(int token)>& on_token) {
  constexpr int kBucket = 1;
  cuda::Mode mode = cuda::mode_of(options.mode);
  if (mode != cuda::Mode::kEager) {
    const auto gate = ask_gate(options.gate, mode, model.config, {kBucket});
    if (!gate && options.on_dirty == "refuse") return gate;
    if (!gate) {
      complain("generate", gate.error());
      complain("generate", "decoding without graphs");
      mode = cuda::Mode::kEager;
    }
  }
  const int prompt = static_cast<int>(options.prompt.size());
  cuda::EngineOptions size;
  size.rows = kBucket;
  size.max_positions = prompt + options.max_tokens;
  size.prompt_capacity = prompt;
  auto engine = cuda::Engine::create(model.config, model.weights, size);
  if (!engine) return Error{engine.error()};
  std::unique_ptr<cuda::CapturedStep> captured;
  if (mode != cuda::Mode::kEager) {
    auto made = cuda::capture_step(**engine, mode, {kBucket});
    if (!made) return Error{made.error()};
    captured = std::move(*made);
  }
  auto loop = cuda::DecodeLoop::create(**engine, captured.get());
  if (!loop) return Error{loop.error()};
  const cuda::Request request{options.prompt, options.max_tokens, options.ignore_eos, options.sampling};
  return (*loop)->run({request}, kBucket, [&](int, int token) { on_token(token); });
}

}  // namespace dsv4::cli
