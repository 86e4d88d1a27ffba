// Engines on a GPU with a generated model, and what comes of requests to them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/cuda/capture/captured_step.h"
#include "engine/cuda/loop/decode_loop.h"
#include "engine/cuda/step/engine.h"
#include "engine/weights/generated_tensors.h"
#include "engine/weights/model_shapes.h"
#include "engine/weights/unmade_tensors.h"
#include "tests/unit/kernels/device_fixture.h"

namespace dsv4 {

class CudaStep : public DeviceTest {
 protected:
  struct Generated {
    ModelConfig config = *model_shape("tiny");
    std::unique_ptr<GeneratedTensors> tensors;
    ModelWeights weights;
  };
  static Generated generated(Storage storage) {
    Generated g;
    g.tensors = std::make_unique<GeneratedTensors>(g.config, 77, storage);
    auto bound = bind_weights(g.config, *g.tensors);
    EXPECT_TRUE(bound.ok()) << (bound ? "" : bound.error());
    g.weights = std::move(*bound);
    return g;
  }
  static std::unique_ptr<cuda::Engine> engine(const Generated& g, int rows, int max_positions) {
    cuda::EngineOptions options;
    options.rows = rows;
    options.max_positions = max_positions;
    auto made = cuda::Engine::create(g.config, g.weights, options);
    EXPECT_TRUE(made.ok()) << (made ? "" : made.error());
    return std::move(*made);
  }
  static Request request(const Generated& g, int prompt, int tokens, std::uint64_t seed) {
    Request r;
    Noise noise(seed);
    for (int i = 0; i < prompt; ++i) r.prompt.push_back(noise.below(g.config.vocab_size));
    r.max_tokens = tokens;
    r.ignore_eos = true;
    return r;
  }
  using Tokens = std::vector<std::vector<int>>;
  static Tokens tokens(cuda::Engine& engine, const cuda::CapturedStep* captured,
                       const std::vector<Request>& requests, int bucket) {
    Tokens out(requests.size());
    auto loop = cuda::DecodeLoop::create(engine, captured);
    EXPECT_TRUE(loop.ok()) << (loop ? "" : loop.error());
    const auto ok = (*loop)->run(requests, bucket, [&](int row, int token) { out[row].push_back(token); });
    EXPECT_TRUE(ok.ok()) << (ok ? "" : ok.error());
    return out;
  }
  std::vector<float> logits(cuda::Engine& e) {
    return read(e.step().a.logits, std::int64_t{e.step().lanes} * e.step().config.vocab_size);
  }

  // What came of one request: its tokens, and the logits that each was chosen from.
  struct Answer {
    std::vector<int> tokens;
    std::vector<float> logits;
    std::vector<Arrival> ends;
  };
  static std::vector<Answer> answers(cuda::Engine& engine, const cuda::CapturedStep* captured,
                                     const std::vector<Request>& requests,
                                     cuda::DecodeLoop::Buckets buckets) {
    std::vector<Answer> out(requests.size());
    EXPECT_TRUE(engine.poison().ok());
    auto loop = cuda::DecodeLoop::create(engine, captured);
    EXPECT_TRUE(loop.ok()) << (loop ? "" : loop.error());
    const auto vocab = static_cast<std::size_t>(engine.step().config.vocab_size);
    (*loop)->watch([&](int, const StepPlan& plan) {
      cudaError_t status = cudaSuccess;
      for (const auto [lane, request] : plan.answers) {
        std::vector<float>& to = out[static_cast<std::size_t>(request)].logits;
        to.resize(to.size() + vocab);
        if (status == cudaSuccess)
          status = cudaMemcpyAsync(to.data() + to.size() - vocab,
                                   engine.step().a.logits + static_cast<std::size_t>(lane) * vocab,
                                   vocab * sizeof(float), cudaMemcpyDeviceToHost, engine.stream());
      }
      return status;
    });
    const auto ok = (*loop)->run(
        requests, buckets,
        [&](int request, int token) { out[static_cast<std::size_t>(request)].tokens.push_back(token); },
        [&](int request, Arrival arrival) {
          out[static_cast<std::size_t>(request)].ends.push_back(arrival);
        });
    EXPECT_TRUE(ok.ok()) << (ok ? "" : ok.error());
    return out;
  }
  static void expect_same(const std::vector<Answer>& got, const std::vector<Answer>& wanted,
                          const std::string& how) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].tokens, wanted[i].tokens) << how << ", request " << i;
      EXPECT_EQ(got[i].ends, wanted[i].ends) << how << ", request " << i;
      ASSERT_EQ(got[i].logits.size(), wanted[i].logits.size()) << how << ", request " << i;
      EXPECT_EQ(
          std::memcmp(got[i].logits.data(), wanted[i].logits.data(), got[i].logits.size() * sizeof(float)), 0)
          << how << ", logits of request " << i;
    }
  }
  // Prompts and answers of many lengths, across windows and ratios; every third is sampled.
  static std::vector<Request> requests_of(const Generated& g, int count, int most_prompt, int most_tokens) {
    std::vector<Request> requests;
    Noise noise(99);
    for (int i = 0; i < count; ++i) {
      requests.push_back(request(g, 1 + noise.below(most_prompt), 1 + noise.below(most_tokens),
                                 static_cast<std::uint64_t>(500 + i)));
      if (i % 3 == 1) requests.back().sampling = {0.9, 30, static_cast<std::uint64_t>(i)};
    }
    return requests;
  }
  struct Size {
    int rows, lanes, chunk;
    bool paged;
    std::string words() const {
      return std::to_string(rows) + " rows in " + std::to_string(lanes) + " lanes, chunk " +
             std::to_string(chunk) + (paged ? ", paged" : ", in one piece");
    }
  };
  static std::unique_ptr<cuda::Engine> engine_of(const Generated& g, const Size& size, int max_positions,
                                                 const UnmadeTensors* unmade = nullptr) {
    cuda::EngineOptions options;
    options.rows = size.rows;
    options.lanes = size.lanes;
    options.chunk = size.chunk;
    options.max_positions = max_positions;
    options.unmade = unmade;
    if (size.paged) {
      options.page_tokens = cuda::page_tokens_for(g.config, 1);
      const int of_one = (max_positions + options.page_tokens - 1) / options.page_tokens;
      options.pages = std::max(of_one, size.rows * of_one * 2 / 3);  // some wait
    }
    auto made = cuda::Engine::create(g.config, g.weights, options);
    EXPECT_TRUE(made.ok()) << (made ? "" : made.error());
    return std::move(*made);
  }
};

}  // namespace dsv4
