// Rows that come and go: each request gets what it gets alone, whatever is beside it and wherever its state
// lies.
#include <algorithm>

#include "tests/unit/kernels/cuda_step_fixture.h"

namespace dsv4 {
namespace {

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

}  // namespace
}  // namespace dsv4
