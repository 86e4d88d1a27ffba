// The whole step: against the double-precision reference, replays against eager steps, rows against each
// other.
#include <map>
#include <tuple>

#include "engine/cuda/check/probed_engine.h"
#include "engine/cuda/check/replay_check.h"
#include "engine/reference/model.h"
#include "tests/unit/kernels/cuda_step_fixture.h"

namespace dsv4 {
namespace {

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
