// replay-mismatch: what a verification found, and what else the run shows of that graph.
#include <cmath>

#include "detector/analysis/verify/facts.h"
#include "tests/unit/analysis/verified_run.h"

namespace capgate::test {
namespace {

constexpr const char* kLater =
    "set=1 step=2 filling=0 refilled=0 index=7 eager=2 replay=1.5 elements=4 of=64 largest=0.5 allowed=1e-05 "
    "kept=0 "
    "state=1";
constexpr const char* kFirst =
    "set=0 step=1 filling=0 refilled=0 index=3 eager=2.1 replay=1.83 elements=1023 of=1024 largest=1.81 "
    "allowed=1.27e-05 kept=0 state=0";

class ReplayMismatch : public Verifications {
 protected:
  static Story story(std::vector<std::pair<std::string, std::string>> differs = {{"cache", kLater},
                                                                                 {"logits", kFirst}}) {
    Story out;
    out.rounds = 1;
    out.differs = std::move(differs);
    out.result = "differs";
    out.how = "refilled=0 varied=1";
    return out;
  }
};

TEST_F(ReplayMismatch, NamesTheOutputThatDiffersFirstAndByHowMuch) {
  captured_in("bs=8");
  verify(story());
  const auto report = this->report();
  EXPECT_EQ(report.verdict, reports::Verdict::fail);
  const auto found = only(report, "replay-mismatch");
  EXPECT_EQ(faults(report), (Faults{"error replay-mismatch test_decode.cpp:30 test_decode"}));
  EXPECT_EQ(found.message,
            "capture \"bs=8\" gives other results than the eager step: logits differs first, in step 2 of "
            "input set 0: "
            "element 3 is 1.83, eagerly 2.1 (1,023 of 1,024 elements differ, by 1.81 at most; 1.27e-05 is "
            "allowed); "
            "cache differs, too");
  EXPECT_EQ(found.capture, "100:1");
  EXPECT_EQ(found.phase, reports::Phase::replay);
  EXPECT_EQ(found.details.at("differs"), "logits");
  EXPECT_EQ(found.details.at("what"), "output");
  EXPECT_EQ(found.details.at("step"), "2");
  EXPECT_EQ(found.details.at("verification"), "decode");
  EXPECT_EQ(found.situation, "replay-mismatch.from-second-step");
  EXPECT_EQ(roles(found), (std::vector<std::string>{"call", "captured"}));
  ASSERT_EQ(report.coverage.replay->verified.size(), 1u);
  EXPECT_EQ(report.coverage.replay->verified[0].result, reports::ReplayResult::differs);
  ASSERT_EQ(report.coverage.replay->not_verified.size(), 1u);
  EXPECT_EQ(report.coverage.replay->not_verified[0].why,
            "it gives other results than the eager step in \"decode\"");
}

TEST_F(ReplayMismatch, EachWayOfDifferingHasItsSituation) {
  const auto situation = [](const std::string& facts) {
    TraceBuilder other;
    ProcessBuilder& process = other.process();
    Verified run(process);
    run.captured();
    run.verify(story({{"logits", facts}}));
    process.end();
    return only(other.report(), "replay-mismatch").situation;
  };
  const std::string rest = " index=0 eager=1 replay=2 elements=1 of=1 largest=1 allowed=0 ";
  EXPECT_EQ(situation("set=0 step=0 filling=0 refilled=1" + rest + "kept=0 state=0"),
            "replay-mismatch.freed-memory");
  EXPECT_EQ(situation("set=0 step=0 filling=0 refilled=0" + rest + "kept=1 state=0"),
            "replay-mismatch.not-written");
  EXPECT_EQ(situation("set=0 step=0 filling=0 refilled=0" + rest + "kept=0 state=1"),
            "replay-mismatch.state");
  EXPECT_EQ(situation("set=0 step=2 filling=0 refilled=0" + rest + "kept=0 state=0"),
            "replay-mismatch.from-second-step");
  EXPECT_EQ(situation("set=1 step=0 filling=0 refilled=0" + rest + "kept=0 state=0"),
            "replay-mismatch.other-input");
  EXPECT_EQ(situation("set=0 step=0 filling=0 refilled=0" + rest + "kept=0 state=0"),
            "replay-mismatch.other");
}

TEST_F(ReplayMismatch, ValuesThatAreNoNumbersAreNamedAsTheyAre) {
  captured();
  verify(story({{"logits",
                 "set=0 step=0 filling=0 refilled=0 index=0 eager=1 replay=nan elements=1 of=1 largest=nan "
                 "allowed=0"}}));
  EXPECT_NE(only(report(), "replay-mismatch")
                .message.find("element 0 is nan, eagerly 1 (1 of 1 element differ, some by "
                              "no finite number"),
            std::string::npos);
}

// The line that takes the memory away is what somebody has to change.
TEST_F(ReplayMismatch, FollowsFromTheOneErrorAboutItsGraph) {
  born();
  captured();
  died();
  verify(story());
  const auto report = this->report();
  const auto cause = only(report, "freed-memory"), mismatch = only(report, "replay-mismatch");
  EXPECT_EQ(mismatch.symptom_of, cause.id);
  EXPECT_EQ(mismatch.details.at("explained by"), "freed-memory at step.cpp:40");
  EXPECT_EQ(report.summary.errors, 1u);
  EXPECT_EQ(report.summary.symptoms, 1u);
}

TEST_F(ReplayMismatch, OfAnotherGraphsErrorItIsNoSymptom) {
  born();
  captured();
  died();
  launched();
  captured(0, kGraph + 1, kExec + 1);
  Story other = story();
  other.replays = [this](int, int) { p.replay(kExec + 1); };
  verify(other);
  const auto report = this->report();
  EXPECT_FALSE(only(report, "replay-mismatch").symptom_of);
  EXPECT_EQ(report.summary.errors, 2u);
}

TEST_F(ReplayMismatch, WarningsAboutItsGraphAreBelowIt) {
  p.at("step.cpp", 20, "record");
  p.begin_capture();
  p.launch(kStream);
  p.at("step.cpp", 22, "record");
  p.on_stream(Family::host_func, "cudaLaunchHostFunc", kStream);
  p.at("step.cpp", 20, "record");
  p.end_capture(kStream, 2);
  p.instantiate();
  verify(story());
  const auto report = this->report();
  const auto mismatch = only(report, "replay-mismatch"), callback = only(report, "host-node");
  ASSERT_EQ(callback.severity, reports::Severity::warning);
  EXPECT_EQ(callback.symptom_of, mismatch.id);
  EXPECT_EQ(mismatch.details.at("explained by"), "host-node at step.cpp:22");
}

TEST_F(ReplayMismatch, MayBeAllowed) {
  captured();
  p.mark(trace::MarkOp::allow_begin, "replay-mismatch", "bf16 sums in another order");
  verify(story());
  p.mark(trace::MarkOp::allow_end);
  const auto report = this->report();
  ASSERT_TRUE(only(report, "replay-mismatch").suppressed);
  EXPECT_EQ(report.verdict, reports::Verdict::pass);
  EXPECT_FALSE(report.coverage.replay->not_verified.empty()) << "allowed is not verified";
}

TEST_F(ReplayMismatch, AGraphOfOtherInputSetsIsNotVerified) {
  captured();
  captured(kBlock + 64, kGraph + 1, kExec + 1);
  Story buckets = story({{"logits", kFirst}});
  buckets.replays = [this](int set, int) { p.replay(set == 0 ? kExec : kExec + 1); };
  verify(buckets);
  const auto report = this->report();
  EXPECT_EQ(only(report, "replay-mismatch").count, 1u);
  ASSERT_EQ(report.coverage.replay->verified.size(), 2u);
  EXPECT_EQ(report.coverage.replay->verified[1].result, reports::ReplayResult::not_counted);
}

// Nothing says which graph it would be of; it is no pass either.
TEST_F(ReplayMismatch, WithoutALaunchIsAReason) {
  captured();
  launched();
  Story none = story();
  none.replays = [this](int, int) { p.launch(kStream, "eager"); };
  verify(none);
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{});
  EXPECT_EQ(report.verdict, reports::Verdict::inconclusive);
  ASSERT_EQ(report.reasons.size(), 1u);
  EXPECT_EQ(
      report.reasons[0].text,
      "verification \"decode\" found other results than the eager step's, and launched no executable graph");
}

// Also where the call then proved nothing, or was left by an exception.
TEST_F(ReplayMismatch, ADifferenceIsOneHoweverItEnded) {
  captured();
  Story raised = story();
  raised.result = "raised";
  verify(raised);
  EXPECT_EQ(report().verdict, reports::Verdict::fail);
}

TEST(Facts, AreReadAsTheyAreWritten) {
  const analysis::Facts facts("address=0x7f00 bytes=64 noise=2.5e-3 varied=1 far=nan odd why=a = b, c=d");
  EXPECT_EQ(facts.number("address"), 0x7f00u);
  EXPECT_EQ(facts.number("bytes"), 64u);
  EXPECT_EQ(facts.real("noise"), 2.5e-3);
  EXPECT_TRUE(std::isnan(facts.real("far")));
  EXPECT_TRUE(facts.flag("varied"));
  EXPECT_EQ(facts.at("odd"), "");
  EXPECT_EQ(facts.at("c"), "") << "a part of the reason";
  EXPECT_EQ(facts.at("why"), "a = b, c=d");
  EXPECT_EQ(facts.number("why"), 0u);
  EXPECT_EQ(analysis::Facts("a=-1 b=99999999999999999999 c=1x").number("a"), 0u);
  EXPECT_EQ(analysis::Facts("a=-1 b=99999999999999999999 c=1x").number("b"), 0u);
  EXPECT_EQ(analysis::Facts("a=-1 b=99999999999999999999 c=1x").number("c"), 0u);
  EXPECT_EQ(analysis::Facts("").at("a"), "");
}

}  // namespace
}  // namespace capgate::test
