// What verify_replay tells an audit, which is this file.
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "detector/include/capgate/verify.h"

namespace {

std::vector<std::string>* g_told = nullptr;

}  // namespace

extern "C" __attribute__((visibility("default"))) int capgate_hook_v1(int op, const char* a, const char* b) {
  if (!g_told) return 0;
  if (op != CAPGATE_OP_PROBE) g_told->push_back(std::to_string(op) + " " + a + ": " + b);
  return 1;
}

namespace capgate {
namespace {

class Evidence : public testing::Test {
 protected:
  void SetUp() override { g_told = &told; }
  void TearDown() override { g_told = nullptr; }

  void step(float factor) {
    for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] * factor;
  }
  replay_check check(float captured) {
    replay_check made;
    made.name = "decode";
    made.eager = [this] { step(2); };
    made.replay = [this, captured] { step(captured); };
    made.load = [this](int set, int at) { x = {static_cast<float>(set + 1), static_cast<float>(at)}; };
    made.outputs = {of("y", y.data(), y.size())};
    made.state = {of("steps", &steps, 1)};
    made.refill = false;
    return made;
  }
  size_t count(const std::string& beginning) const {
    return static_cast<size_t>(std::count_if(
        told.begin(), told.end(), [&](const std::string& line) { return line.rfind(beginning, 0) == 0; }));
  }

  std::array<float, 2> x{}, y{};
  int steps = 0;
  std::vector<std::string> told;
};

TEST_F(Evidence, NamesEachStepAndItsPhases) {
  EXPECT_TRUE(verify_replay(check(2)).ok());
  ASSERT_GT(told.size(), 8u);
  EXPECT_EQ(told[0], "11 decode: inputs=2 steps=3");
  EXPECT_EQ(told[1].rfind("13 y: address=0x", 0), 0u) << told[1];
  EXPECT_NE(told[1].find(" bytes=8 by=copy state=0"), std::string::npos);
  EXPECT_NE(told[2].find("13 steps: "), std::string::npos);
  EXPECT_EQ(told[3], "12 load: run=eager set=0 step=0 filling=0 refilled=0");
  EXPECT_EQ(told[4], "12 fill: ");
  EXPECT_EQ(told[5], "12 launch: ");
  EXPECT_EQ(told[6], "12 read: ");
  EXPECT_EQ(told[7], "12 load: run=eager set=0 step=1 filling=0 refilled=0");
  EXPECT_EQ(count("12 load: run=replay "), 2u * 2 * 3);
  EXPECT_EQ(count("12 load: run=replay set=1 step=2 filling=1 refilled=0"), 1u);
  EXPECT_EQ(count("12 load: run=eager "), 2u * (2 * 2 * 3));
  EXPECT_EQ(count("13 y: noise=0 varied=1"), 1u);
  EXPECT_EQ(count("13 steps: noise=0 varied=0"), 1u);
  EXPECT_EQ(told.back(), "15 equal: refilled=0 varied=1");
}

TEST_F(Evidence, ARoundAfterFreeMemoryWasFilledIsOne) {
  replay_check made = check(2);
  made.refill = true;
  made.most_refilled = 1 << 16;
  EXPECT_TRUE(verify_replay(made).ok());
  EXPECT_EQ(count("12 load: run=replay set=0 step=0 filling=0 refilled=1"), 1u);
  EXPECT_EQ(told.back(), "15 equal: refilled=65536 varied=1");
}

TEST_F(Evidence, NamesTheFirstDifference) {
  EXPECT_FALSE(verify_replay(check(3)).ok());
  EXPECT_EQ(
      count("14 y: set=0 step=0 filling=0 refilled=0 index=0 eager=2 replay=3 elements=1 of=2 largest=1 "
            "allowed=1.26e-05 kept=0 state=0"),
      1u);
  EXPECT_EQ(count("14 "), 2u) << "one for each input set";
  EXPECT_EQ(told.back(), "15 differs: refilled=0 varied=1");
}

TEST_F(Evidence, SaysWhereAnOutputWasNotWritten) {
  replay_check made = check(2);
  made.replay = [] {};
  EXPECT_FALSE(verify_replay(made).ok());
  EXPECT_EQ(count("14 y: set=0 step=0 filling=0 refilled=0 index=0 eager=2 replay=-nan") +
                count("14 y: set=0 step=0 filling=0 refilled=0 index=0 eager=2 replay=nan"),
            1u);
  EXPECT_EQ(count("14 y: "), 2u);
  for (const std::string& line : told) {
    if (line.rfind("14 y: ", 0) == 0) {
      EXPECT_NE(line.find(" kept=1 "), std::string::npos) << line;
    }
  }
}

TEST_F(Evidence, SaysWhyNothingIsVerified) {
  replay_check made = check(2);
  made.inputs = 1;
  verify_replay(made);
  EXPECT_EQ(told, (std::vector<std::string>{
                      "11 decode: inputs=1 steps=3",
                      "15 nothing: refilled=0 varied= why=a value that the graph has frozen is "
                      "right for one input set; give 2 or more"}));
}

TEST_F(Evidence, AnExceptionOfTheProgramEndsIt) {
  replay_check made = check(2);
  made.replay = [] { throw std::runtime_error("an illegal address"); };
  EXPECT_THROW(verify_replay(made), std::runtime_error);
  EXPECT_EQ(told.back(), "15 raised: why=an exception left the verification");
}

TEST_F(Evidence, NoiseIsNoOtherInput) {
  int run = 0;
  replay_check made = check(2);
  made.load = [this](int, int) { x = {1, 2}; };
  made.eager = [&] {
    step(2);
    y[0] += 0.25f * static_cast<float>(run++ / 3 % 2);
  };
  EXPECT_NE(verify_replay(made).text().find("all input sets give the same eager outputs"), std::string::npos);
}

TEST_F(Evidence, WithoutAnAuditNothingIsTold) {
  g_told = nullptr;
  EXPECT_TRUE(verify_replay(check(2)).ok());
  EXPECT_TRUE(told.empty());
}

}  // namespace
}  // namespace capgate
