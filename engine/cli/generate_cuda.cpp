#include <fmt/format.h>

#include <cstdio>
#include <optional>

#include "engine/cli/generate_options.h"
#include "engine/cuda/decode_loop.h"

namespace dsv4::cli {

using capgate::Error;

capgate::Result<void> generate_cuda(const GenerateOptions& options, const OpenModel& model) {
  const int prompt = static_cast<int>(options.prompt.size());
  cuda::EngineOptions size;
  size.max_positions = prompt + options.max_tokens;
  size.prompt_capacity = prompt;
  auto engine = cuda::Engine::create(model.config, model.weights, size);
  if (!engine) return Error{engine.error()};
  std::optional<cuda::StepGraphs> graphs;
  auto loop = cuda::DecodeLoop::create(**engine, graphs ? &*graphs : nullptr);
  if (!loop) return Error{loop.error()};
  bool first = true;
  const cuda::Request request{options.prompt, options.max_tokens, options.ignore_eos, options.sampling};
  auto ok = (*loop)->run({request}, 1, [&](int, int token) {
    fmt::print("{}{}", first ? "" : " ", token);
    std::fflush(stdout);
    first = false;
  });
  if (!ok) return ok;
  fmt::print("\n");
  return {};
}

}  // namespace dsv4::cli
