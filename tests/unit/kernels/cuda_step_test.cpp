// The whole step: against the double-precision reference, replays against eager steps, rows against each
// other.
#include <numeric>

#include "engine/cuda/captured_step.h"
#include "engine/cuda/decode_loop.h"
#include "engine/cuda/engine.h"
#include "engine/cuda/probed_engine.h"
#include "engine/cuda/replay_check.h"
#include "engine/reference/model.h"
#include "engine/weights/generated_tensors.h"
#include "engine/weights/model_shapes.h"
#include "engine/weights/unmade_tensors.h"
#include "tests/unit/kernels/device_fixture.h"

namespace dsv4 {
namespace {

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

TEST_F(CudaStep, LogitsAreTheReferencesInEveryStorage) {
  for (const Storage storage : {Storage::kF32, Storage::kCheckpoint}) {
    const Generated g = generated(storage);
    constexpr int kRows = 3, kPositions = 60;
    auto tested = cuda::make_probed_engine(g.config, g.weights, kRows, kPositions);
    ASSERT_TRUE(tested.ok()) << tested.error();
    reference::Model<double> exact(g.config, g.weights, kRows, kPositions);
    const auto size = static_cast<std::size_t>(kRows * g.config.vocab_size);
    std::vector<float> got(size);
    std::vector<double> wanted(size);
    Noise noise(21);
    double worst = 0;
    for (int step = 0; step < kPositions; ++step) {
      std::vector<std::int32_t> ids, positions;
      for (int row = 0; row < kRows; ++row) {
        positions.push_back(std::max(0, step - 7 * row));
        ids.push_back(noise.below(g.config.vocab_size));
      }
      // The device takes the exact model's choices where the two differ.
      std::vector<std::vector<int>> choices;
      reference::Probe<double> keep;
      std::map<std::tuple<int, int, int>, std::vector<int>> chosen;
      keep.choice = [&](const reference::ChoiceSite& s, std::span<const double>, std::vector<int>& c) {
        chosen[{s.kind, s.layer, s.row}] = c;
      };
      reference::Probe<float> force;
      force.choice = [&](const reference::ChoiceSite& s, std::span<const float>, std::vector<int>& c) {
        c = chosen.at({s.kind, s.layer, s.row});
      };
      exact.step(ids, positions, wanted, &keep);
      const auto ok = (*tested)->step(ids, positions, got, &force);
      ASSERT_TRUE(ok.ok()) << ok.error();
      worst = std::max(worst, distance(got, wanted));
    }
    RecordProperty(storage == Storage::kF32 ? "float32" : "checkpoint", std::to_string(worst));
    EXPECT_LT(worst, 1e-4) << (storage == Storage::kF32 ? "float32" : "checkpoint");
  }
}

// Weights made on the device are those that the host would have copied there.
TEST_F(CudaStep, WeightsMadeOnTheDeviceGiveTheSameLogits) {
  for (const Storage storage : {Storage::kF32, Storage::kCheckpoint}) {
    const Generated g = generated(storage);
    const UnmadeTensors unmade(g.config, 77, storage);
    const auto bound = bind_weights(g.config, unmade);
    ASSERT_TRUE(bound.ok()) << bound.error();
    cuda::EngineOptions options;
    options.max_positions = 64;
    auto copied = cuda::Engine::create(g.config, g.weights, options);
    options.unmade = &unmade;
    auto made = cuda::Engine::create(g.config, *bound, options);
    ASSERT_TRUE(copied.ok() && made.ok());
    ASSERT_TRUE((*copied)->poison().ok() && (*made)->poison().ok());
    const std::vector<Request> requests = {request(g, 20, 40, 6)};
    EXPECT_EQ(tokens(**copied, nullptr, requests, 1), tokens(**made, nullptr, requests, 1));
    const auto a = logits(**copied), b = logits(**made);
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0);
  }
}

TEST_F(CudaStep, ReplayEqualsEagerBitForBit) {
  for (const Storage storage : {Storage::kF32, Storage::kCheckpoint}) {
    const Generated g = generated(storage);
    constexpr int kRows = 4;
    auto eager = engine(g, kRows, 96), full = engine(g, kRows, 96);
    auto captured = cuda::capture_step(*full, cuda::Mode::kFull, {1, 2, 4});
    ASSERT_TRUE(captured.ok()) << captured.error();
    for (const int bucket : {1, 2, 4, 2}) {  // the same graphs again and again, on changed inputs
      std::vector<Request> requests;
      for (int row = 0; row < std::max(1, bucket - 1); ++row) {
        requests.push_back(request(g, 3 + 9 * row, 50, static_cast<std::uint64_t>(31 * bucket + row)));
        if (row == 1) requests.back().sampling = {0.8, 20, 5};
      }
      ASSERT_TRUE(eager->poison().ok());
      ASSERT_TRUE(full->poison().ok());
      EXPECT_EQ(tokens(*eager, nullptr, requests, bucket), tokens(*full, captured->get(), requests, bucket))
          << bucket;
      const auto a = logits(*eager), b = logits(*full);
      EXPECT_EQ(std::memcmp(a.data(), b.data(), sizeof(float) * bucket * g.config.vocab_size), 0) << bucket;
    }
  }
}

TEST_F(CudaStep, CheckingReplaysOnChangedInputsFindsThemEqual) {
  const Generated g = generated(Storage::kCheckpoint);
  for (const cuda::Mode mode : {cuda::Mode::kFull, cuda::Mode::kPiecewise}) {
    const auto report = cuda::check_replay(g.config, g.weights, {mode, {1, 2, 4}, 2, 40});
    ASSERT_TRUE(report.ok()) << report.error();
    const std::size_t orderings = mode == cuda::Mode::kPiecewise ? 2 : 1;
    ASSERT_EQ(report->rounds.size(), 6 * orderings);
    for (const auto& round : report->rounds) {
      EXPECT_TRUE(round.ok()) << cuda::name_of(mode) << ", bucket " << round.bucket << ", step "
                              << round.first_apart;
      EXPECT_GE(round.steps, 40 / 2);
    }
    EXPECT_EQ(report->rounds.front().requests, 3);  // for one row
    EXPECT_EQ(report->rounds.back().requests, 3);   // for four: one has none
    EXPECT_EQ(report->rounds.back().ordering == cuda::Ordering::kPerLayer, orderings == 2);
    EXPECT_TRUE(report->memory_flat);
  }
}

// One graph more than layers, the same kernels in all but those of attention; a set for each bucket.
TEST_F(CudaStep, PiecesAreTheWholeStepWithoutItsAttention) {
  const Generated g = generated(Storage::kF32);
  auto whole_engine = engine(g, 2, 64), pieces_engine = engine(g, 2, 64);
  auto whole = cuda::capture_step(*whole_engine, cuda::Mode::kFull, {1, 2});
  auto pieces = cuda::capture_step(*pieces_engine, cuda::Mode::kPiecewise, {1, 2});
  ASSERT_TRUE(whole.ok() && pieces.ok());
  for (const int bucket : {1, 2}) {
    cudaGraph_t attention = nullptr;
    std::size_t kernels = 0;
    for (int layer = 0; layer < g.config.num_layers(); ++layer) {
      check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
      check(cuda::enqueue_attention(pieces_engine->step(), bucket, layer, stream_));
      check(cudaStreamEndCapture(stream_, &attention));
      std::size_t nodes = 0;
      check(cudaGraphGetNodes(attention, nullptr, &nodes));
      check(cudaGraphDestroy(attention));
      EXPECT_GT(nodes, 0u);
      kernels += nodes;
    }
    EXPECT_EQ((*pieces)->graphs(bucket), static_cast<std::size_t>(g.config.num_layers()) + 1);
    EXPECT_EQ((*whole)->graphs(bucket), 1u);
    EXPECT_EQ((*pieces)->nodes(bucket) + kernels, (*whole)->nodes(bucket));
  }
}

TEST_F(CudaStep, ARowGivesInCompanyWhatItGivesAlone) {
  const Generated g = generated(Storage::kF32);
  auto many = engine(g, 4, 96), one = engine(g, 1, 96);
  std::vector<Request> requests = {request(g, 1, 60, 1), request(g, 17, 40, 2), request(g, 33, 60, 3)};
  ASSERT_TRUE(many->poison().ok());
  const Tokens together = tokens(*many, nullptr, requests, 4);
  for (std::size_t row = 0; row < requests.size(); ++row) {
    ASSERT_TRUE(one->poison().ok());
    EXPECT_EQ(tokens(*one, nullptr, {requests[row]}, 1).front(), together[row]) << row;
    EXPECT_EQ(together[row].size(), static_cast<std::size_t>(requests[row].max_tokens));
  }
}

// Whoever is beside it, however its prompt is fed, wherever its state lies: a row gives the same bits.
TEST_F(CudaStep, RowsThatComeAndGoGiveWhatEachGivesAlone) {
  for (const Storage storage : {Storage::kF32, Storage::kCheckpoint}) {
    const Generated g = generated(storage);
    constexpr int kPositions = 110;
    const std::vector<Request> requests = requests_of(g, 9, 60, 50);
    auto alone = engine_of(g, {1, 1, 1, false}, kPositions);
    std::vector<Answer> wanted;
    for (const Request& r : requests) wanted.push_back(answers(*alone, nullptr, {r}, {1, 1}).front());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(wanted[i].tokens.size(), static_cast<std::size_t>(requests[i].max_tokens));
      EXPECT_EQ(wanted[i].ends, std::vector{Arrival::kLast});
    }
    for (const Size& size : {Size{1, 1, 1, true}, Size{4, 4, 1, false}, Size{4, 4, 4, true},
                             Size{3, 8, 8, false}, Size{2, 16, 13, true}}) {
      auto e = engine_of(g, size, kPositions);
      expect_same(answers(*e, nullptr, requests, {size.rows, size.lanes}), wanted, "eager, " + size.words());
      std::vector<int> buckets = {size.rows};
      if (size.lanes > size.rows) buckets.push_back(size.lanes);
      for (const cuda::Mode mode : {cuda::Mode::kFull, cuda::Mode::kPiecewise}) {
        auto captured = cuda::capture_step(*e, mode, buckets);
        ASSERT_TRUE(captured.ok()) << captured.error();
        expect_same(answers(*e, captured->get(), requests, {size.rows, size.lanes}), wanted,
                    std::string(cuda::name_of(mode)) + ", " + size.words());
      }
    }
  }
}

// The same with the real model's dimensions, whose matrices are streamed; four layers have every kind of
// them.
TEST_F(CudaStep, RowsOfFlashGiveWhatEachGivesAlone) {
  Generated g;
  g.config = truncated(*model_shape("flash"), 4);
  const UnmadeTensors unmade(g.config, 5, Storage::kCheckpoint);
  auto bound = bind_weights(g.config, unmade);
  ASSERT_TRUE(bound.ok()) << bound.error();
  g.weights = std::move(*bound);
  constexpr int kPositions = 300;
  std::vector<Request> requests = requests_of(g, 5, 30, 6);
  requests.push_back(request(g, 280, 4, 1000));  // beyond the window, two entries of 128 tokens
  auto alone = engine_of(g, {1, 1, 1, false}, kPositions, &unmade);
  std::vector<Answer> wanted;
  for (const Request& r : requests) wanted.push_back(answers(*alone, nullptr, {r}, {1, 1}).front());
  alone.reset();
  for (const Size& size : {Size{2, 2, 2, true}, Size{4, 16, 16, true}, Size{3, 64, 64, false}}) {
    auto e = engine_of(g, size, kPositions, &unmade);
    auto captured = cuda::capture_step(*e, cuda::Mode::kFull, {size.rows, size.lanes});
    ASSERT_TRUE(captured.ok()) << captured.error();
    expect_same(answers(*e, captured->get(), requests, {size.rows, size.lanes}), wanted, size.words());
  }
}

TEST_F(CudaStep, AStopTokenEndsAnAnswerAndTheRowIsTakenUpAgain) {
  Generated g = generated(Storage::kF32);
  const std::vector<Request> requests = requests_of(g, 7, 20, 40);
  auto before = engine_of(g, {2, 2, 2, true}, 64);
  const auto whole = answers(*before, nullptr, requests, {2, 2});
  // A token that some answer has in its midst stops it there.
  int stop = -1;
  for (const Answer& answer : whole)
    if (answer.tokens.size() > 10) stop = answer.tokens[5];
  ASSERT_GE(stop, 0);
  g.config.stop_tokens = {stop};
  std::vector<Request> stopping = requests;
  for (Request& r : stopping) r.ignore_eos = false;
  auto e = engine_of(g, {2, 2, 2, true}, 64);
  const auto got = answers(*e, nullptr, stopping, {2, 2});
  int stopped = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto end = std::ranges::find(whole[i].tokens, stop);
    EXPECT_EQ(got[i].tokens, std::vector<int>(whole[i].tokens.begin(), end)) << i;
    const bool has_stop = end != whole[i].tokens.end();
    EXPECT_EQ(got[i].ends, std::vector{has_stop ? Arrival::kStop : Arrival::kLast}) << i;
    stopped += has_stop ? 1 : 0;
  }
  EXPECT_GT(stopped, 0);
}

TEST_F(CudaStep, PagesTakeLessThanOnePieceForEach) {
  const Generated g = generated(Storage::kF32);
  cuda::EngineOptions options;
  options.rows = 8;
  options.max_positions = 4000;
  auto whole = cuda::Engine::create(g.config, g.weights, options);
  options.page_tokens = cuda::page_tokens_for(g.config, 256);
  options.pages = 20;
  auto paged = cuda::Engine::create(g.config, g.weights, options);
  ASSERT_TRUE(whole.ok() && paged.ok());
  EXPECT_LT((*paged)->state_bytes() * 2, (*whole)->state_bytes());
  // What does not fit is refused before anything is decoded.
  auto loop = cuda::DecodeLoop::create(**paged, nullptr);
  ASSERT_TRUE(loop.ok());
  options.pages = 15;
  auto small = cuda::Engine::create(g.config, g.weights, options);
  auto small_loop = cuda::DecodeLoop::create(**small, nullptr);
  const auto refused = (*small_loop)->run({request(g, 10, 3900, 1)}, 8, [](int, int) { FAIL(); });
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error(), "10 tokens of prompt and 3900 new ones need 16 pages, there are 15");
  EXPECT_TRUE((*loop)->run({request(g, 10, 3, 1)}, 8, [](int, int) {}).ok());
}

TEST_F(CudaStep, MemoryStaysFlat) {
  const Generated g = generated(Storage::kF32);
  auto e = engine(g, 2, 512);
  auto captured = cuda::capture_step(*e, cuda::Mode::kFull, {2});
  ASSERT_TRUE(captured.ok()) << captured.error();
  const std::vector<Request> requests = {request(g, 5, 400, 1), request(g, 9, 300, 2)};
  tokens(*e, captured->get(), requests, 2);
  std::size_t before = 0, after = 0, total = 0;
  check(cudaMemGetInfo(&before, &total));
  for (int i = 0; i < 3; ++i) tokens(*e, captured->get(), requests, 2);
  check(cudaMemGetInfo(&after, &total));
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace dsv4
