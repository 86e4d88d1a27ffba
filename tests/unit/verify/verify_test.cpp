// verify_replay on steps whose "graph" keeps what a captured graph would keep wrongly.
#include "detector/include/capgate/verify.h"

#include <gtest/gtest.h>

#include <array>

namespace capgate {
namespace {

// y = x * scale + the sum of all x so far + the number of steps.
class Verify : public testing::Test {
 protected:
  void step(float factor, int position) {
    for (size_t i = 0; i < x.size(); ++i) {
      sums[i] += x[i];
      y[i] = x[i] * factor + sums[i] + static_cast<float>(position);
    }
    steps = position + 1;
  }
  replay_check check(std::function<void()> replay) {
    replay_check made;
    made.eager = [this] { step(scale, steps); };
    made.replay = std::move(replay);
    made.load = [this](int set, int step) {
      ++loads;
      x = {1.0f + static_cast<float>(set + step), 10.0f * static_cast<float>(set + 1)};
    };
    made.outputs = {of("y", y.data(), y.size())};
    made.state = {of("sums", sums.data(), sums.size()), of("steps", &steps, 1)};
    made.refill = false;
    return made;
  }
  std::function<void()> right() {
    return [this] { step(scale, steps); };
  }

  std::array<float, 2> x{}, y{}, sums{};
  int steps = 0, loads = 0;
  float scale = 2.5f;
};

TEST_F(Verify, AnEqualReplay) {
  sums = {5, 6};
  replay_check made = check(right());
  made.inputs = 3;
  made.steps = 4;
  const replay_result result = verify_replay(made);
  EXPECT_EQ(result.text(),
            "the step: replays gave the eager results for 3 input sets over 4 consecutive steps; no input "
            "set changed steps");
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(loads, 3 * 2 * 3 * 4);  // sets, fillings, two eager runs and a replay, steps
  EXPECT_EQ(sums[0], 5);
  EXPECT_EQ(steps, 0);
}

TEST_F(Verify, AFrozenScalar) {
  const replay_result result = verify_replay(check([this] { step(2, steps); }));
  EXPECT_EQ(result.text(),
            "replay-mismatch in the step: y differs in step 1, input set 0: element 0 is 3, eagerly 3.5 (2 "
            "of 2 elements "
            "differ, by 5 at most); 1 more");
}

TEST_F(Verify, AFrozenPositionShowsInTheSecondStep) {
  const replay_result result = verify_replay(check([this] { step(scale, 0); }));
  ASSERT_FALSE(result.mismatches.empty());
  EXPECT_EQ(result.mismatches[0].what, "y");
  EXPECT_EQ(result.mismatches[0].step, 1);
}

TEST_F(Verify, AnOutputThatTheGraphDoesNotWrite) {
  replay_check made = check([this] { sums[0] += x[0], sums[1] += x[1], ++steps; });
  const replay_result result = verify_replay(made);
  ASSERT_FALSE(result.mismatches.empty());
  EXPECT_EQ(result.mismatches[0].what, "y");
  EXPECT_TRUE(std::isnan(result.mismatches[0].replay));
  EXPECT_NE(result.text().find("some by no finite number"), std::string::npos);
}

TEST_F(Verify, StateThatTheGraphDoesNotCarryOn) {
  const replay_result result = verify_replay(check([this] {
    const auto kept = sums;
    step(scale, steps);
    sums = kept;
  }));
  ASSERT_FALSE(result.mismatches.empty());
  EXPECT_EQ(result.mismatches[0].what, "sums");
  EXPECT_EQ(result.mismatches[0].step, 0);
}

TEST_F(Verify, FreeMemoryIsFilledAndAllRunsAgain) {
  replay_check made = check(right());
  made.refill = true;
  made.most_refilled = 1 << 16;
  const replay_result result = verify_replay(made);
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.refilled, 1u << 16);
  EXPECT_NE(result.text().find("again after 65536 bytes of free memory were filled"), std::string::npos);
  EXPECT_EQ(loads, 2 * (2 * 2 * 3 * 3));
}

TEST_F(Verify, AReplayThatFailsOnceMemoryWasFilledSaysSo) {
  int replays = 0;
  replay_check made = check([&] { step(++replays > 12 ? 7 : scale, steps); });
  made.refill = true;
  made.most_refilled = 1 << 16;
  EXPECT_NE(verify_replay(made).text().find("y differs in step 1, input set 0, after free memory was filled"),
            std::string::npos);
}

TEST_F(Verify, RoundingIsAllowedAndMoreIsNot) {
  const auto off_by = [this](float part) {
    return [this, part] {
      step(scale, steps);
      y[1] *= 1 + part;
    };
  };
  EXPECT_TRUE(verify_replay(check(off_by(5e-7f))).ok());
  EXPECT_FALSE(verify_replay(check(off_by(1e-4f))).ok());
  replay_check made = check(off_by(1e-4f));
  made.relative = 1e-3;
  EXPECT_TRUE(verify_replay(made).ok());
}

TEST_F(Verify, NoiseOfTheEagerStepIsAllowed) {
  int run = 0;
  replay_check made = check(right());
  made.eager = [&] {
    step(scale, steps);
    y[0] += 0.25f * static_cast<float>(run++ / 3 % 2);
  };
  EXPECT_TRUE(verify_replay(made).ok());
}

TEST_F(Verify, HalvesAreReadAsNumbers) {
  EXPECT_EQ(verify_detail::half_value(0x3c00, 5), 1.0);
  EXPECT_EQ(verify_detail::half_value(0xc000, 5), -2.0);
  EXPECT_EQ(verify_detail::half_value(0x0001, 5), std::ldexp(1.0, -24));
  EXPECT_EQ(verify_detail::half_value(0x7c00, 5), INFINITY);
  EXPECT_EQ(verify_detail::half_value(0x3f80, 8), 1.0);
  EXPECT_EQ(verify_detail::half_value(0xc049, 8), -3.140625);
  EXPECT_TRUE(std::isnan(verify_detail::half_value(0xffff, 8)));
}

TEST_F(Verify, CallsThatCanProveNothing) {
  const auto why = [this](void (*change)(replay_check&)) {
    replay_check made = check(right());
    change(made);
    const replay_result result = verify_replay(made);
    EXPECT_FALSE(result.ok());
    return result.text();
  };
  EXPECT_EQ(why([](replay_check& c) { c.inputs = 1; }),
            "the step: nothing is verified: a value that the graph has frozen is right for one input set; "
            "give 2 or more");
  EXPECT_NE(why([](replay_check& c) { c.steps = 2; }).find("3 steps or more"), std::string::npos);
  EXPECT_NE(why([](replay_check& c) { c.outputs.clear(), c.state.clear(); }).find("no output is known"),
            std::string::npos);
  EXPECT_NE(why([](replay_check& c) { c.replay = nullptr; }).find("must all be given"), std::string::npos);
  EXPECT_NE(why([](replay_check& c) { c.load = [](int, int) {}; }).find("all input sets give the same"),
            std::string::npos);
  EXPECT_NE(why([](replay_check& c) {
              c.outputs[0].data = nullptr;
            }).find("copying y to the host: cudaErrorInvalidValue"),
            std::string::npos);
}

}  // namespace
}  // namespace capgate
