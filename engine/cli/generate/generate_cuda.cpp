#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "engine/cli/arguments/complain.h"
#include "engine/cli/generate/generate_options.h"
#include "engine/cli/graphs/gate_subject.h"
#include "engine/cuda/loop/decode_loop.h"

namespace dsv4::cli {
namespace {

using capgate::Error;

constexpr int kPageTokens = 256;

// Pages for as many of the longest requests as are decoded at a time: with them no row ever waits for a page.
int pages_for(const std::vector<Request>& requests, int rows, int page_tokens) {
  std::vector<int> pages;
  for (const Request& request : requests) pages.push_back(Schedule::pages_of(request, page_tokens));
  std::ranges::sort(pages, std::greater());
  pages.resize(std::min(pages.size(), static_cast<std::size_t>(rows)));
  return std::accumulate(pages.begin(), pages.end(), 0);
}

}  // namespace

capgate::Result<void> generate_cuda(const GenerateOptions& options, const OpenModel& model,
                                    const std::vector<Request>& requests, const AnswerSink& sink) {
  const cuda::DecodeLoop::Buckets loop_buckets{options.rows, std::max(options.rows, options.chunk)};
  std::vector<int> buckets = {loop_buckets.rows};
  if (loop_buckets.lanes > loop_buckets.rows) buckets.push_back(loop_buckets.lanes);
  cuda::Mode mode = cuda::mode_of(options.mode);
  if (mode != cuda::Mode::kEager) {
    const auto gate = ask_gate(options.gate, mode, model.config, buckets);
    if (!gate && options.on_dirty == "refuse") return gate;
    if (!gate) {
      complain("generate", gate.error());
      complain("generate", "decoding without graphs");
      mode = cuda::Mode::kEager;
    }
  }
  cuda::EngineOptions size;
  size.rows = loop_buckets.rows;
  size.lanes = loop_buckets.lanes;
  size.chunk = options.chunk;
  for (const Request& request : requests)
    size.max_positions =
        std::max(size.max_positions, static_cast<int>(request.prompt.size()) + request.max_tokens);
  size.page_tokens = cuda::page_tokens_for(model.config, kPageTokens);
  size.pages = pages_for(requests, size.rows, size.page_tokens);
  auto engine = cuda::Engine::create(model.config, model.weights, size);
  if (!engine) return Error{engine.error()};
  std::unique_ptr<cuda::CapturedStep> captured;
  if (mode != cuda::Mode::kEager) {
    auto made = cuda::capture_step(**engine, mode, buckets);
    if (!made) return Error{made.error()};
    captured = std::move(*made);
  }
  auto loop = cuda::DecodeLoop::create(**engine, captured.get());
  if (!loop) return Error{loop.error()};
  return (*loop)->run(requests, loop_buckets, sink.on_token, sink.on_end);
}

}  // namespace dsv4::cli
