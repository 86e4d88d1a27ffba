// One read-back is one cause, and what a fault costs is told a step.
#include "detector/analysis/results.h"
#include "reports/verdict/causes.h"
#include "tests/unit/analysis/expect.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {
namespace {

// "51<-52" for a violation at line 51 that follows from the one at line 52, "52" for one that counts by
// itself.
std::string told(const reports::Report& report) {
  const reports::Causes causes(report);
  std::string out;
  for (const auto& fault : report.violations) {
    out += (out.empty() ? "" : " ") + std::to_string(fault.location.line);
    if (const auto* cause = causes.cause_of(fault)) out += "<-" + std::to_string(cause->location.line);
  }
  return out;
}

class ReadBacks : public testing::Test {
 protected:
  ReadBacks() { trace.regions = {"step"}; }

  template <class Body>
  reports::Report passes(Body body, int count = 4) {
    for (int pass = 0; pass < count; ++pass) {
      p.push("step");
      body(pass);
      p.pop();
    }
    p.end();
    return trace.report();
  }
  CallRecord& read(int line, uint64_t stream = kStream) {
    p.at("step.cpp", line, "step");
    return p.copy_async(stream, Memory::pageable, Memory::device, 4, HostPlace::stack);
  }
  void line(int line) { p.at("step.cpp", line, "step"); }

  TraceBuilder trace;
  ProcessBuilder& p = trace.process();
};

TEST_F(ReadBacks, ACopyFollowsFromTheWaitOnTheNextLine) {
  const auto report = passes([&](int) {
    read(51);
    line(52), p.sync(kStream);
  });
  EXPECT_EQ(told(report), "52 51<-52") << text(report);
  EXPECT_EQ(report.violations[1].rule, "pageable-copy");
  EXPECT_EQ(report.summary.errors, 1u);
  EXPECT_EQ(report.summary.symptoms, 1u);
  EXPECT_EQ(report.verdict, reports::Verdict::fail);
}

TEST_F(ReadBacks, SeveralCopiesFollowFromTheirOneWait) {
  EXPECT_EQ(told(passes([&](int) {
              read(50), read(51);
              line(52), p.device_sync();
            })),
            "52 50<-52 51<-52");
}

TEST_F(ReadBacks, AnEventTellsWhichCopiesItIsFor) {
  EXPECT_EQ(told(passes([&](int) {
              read(50);
              line(51), p.record(7, kStream);
              read(52);
              line(53), p.event_sync(7);
            })),
            "53 50<-53 52");
}

// Other work was queued behind it, another stream was waited for, or it went the other way.
TEST_F(ReadBacks, WhatTheWaitIsNotForStandsAlone) {
  EXPECT_EQ(passes([&](int) {
              read(51);
              p.launch(kStream);
              line(52), p.sync(kStream);
            }).summary.symptoms,
            0u);
  TraceBuilder other;
  other.regions = {"step"};
  ProcessBuilder& q = other.process();
  for (int pass = 0; pass < 3; ++pass) {
    q.push("step");
    q.at("step.cpp", 51, "step");
    q.copy_async(kSide, Memory::pageable, Memory::device, 4, HostPlace::stack);
    q.at("step.cpp", 52, "step");
    q.sync(kStream);
    q.at("step.cpp", 53, "step");
    q.copy_async(kStream, Memory::device, Memory::pageable, 4, HostPlace::stack);
    q.at("step.cpp", 54, "step");
    q.sync(kStream);
    q.pop();
  }
  q.end();
  const auto report = other.report();
  EXPECT_EQ(report.violations.size(), 4u) << text(report);
  EXPECT_EQ(report.summary.symptoms, 0u) << text(report);
}

// A helper's copy that two lines wait for has no one cause.
TEST_F(ReadBacks, OfTwoWaitsNeitherIsTheCause) {
  const auto report = passes([&](int) {
    read(51);
    line(60), p.sync(kStream);
    read(51);
    line(70), p.sync(kStream);
  });
  EXPECT_EQ(report.violations.size(), 3u) << text(report);
  EXPECT_EQ(report.summary.symptoms, 0u);
}

TEST_F(ReadBacks, InACaptureTheWaitThatKillsItIsTheCause) {
  line(10), p.begin_capture();
  p.launch(kStream);
  read(51);
  line(52), p.sync(kStream, analysis::kCaptureUnsupported);
  line(90), p.end_capture(kStream, 0, analysis::kCaptureInvalidated);
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(told(report), "52 51<-52") << text(report);
  EXPECT_EQ(report.violations[0].details.at("consequence"), "killed capture 1 of s1");
  EXPECT_EQ(report.summary.errors, 1u);
}

TEST_F(ReadBacks, ARefusedWaitBlocksNobody) {
  line(10), p.begin_capture();
  p.launch(kStream);
  line(52), p.sync(kStream, analysis::kCaptureUnsupported);
  line(90), p.end_capture(kStream, 0, analysis::kCaptureInvalidated);
  p.end();
  const auto fault = only(trace.report(), "host-sync");
  EXPECT_EQ(fault.blocked_us, std::nullopt);
  EXPECT_EQ(fault.per_step, std::nullopt);
}

TEST_F(ReadBacks, AnAllowedWaitHidesNoCopy) {
  const auto report = passes([&](int) {
    read(51);
    p.mark(trace::MarkOp::allow_begin, "host-sync", "meant");
    line(52), p.sync(kStream);
    p.mark(trace::MarkOp::allow_end);
  });
  EXPECT_EQ(told(report), "51 52");
  EXPECT_EQ(report.summary.errors, 1u);
  EXPECT_EQ(report.summary.suppressed, 1u);
}

using PerStep = ReadBacks;

TEST_F(PerStep, TheFirstPassAndTheUnfinishedOneAreLeftOut) {
  for (int pass = 0; pass < 4; ++pass) {
    p.push("step");
    line(52);
    for (int wait = 0; wait < (pass == 0 ? 9 : 2); ++wait) p.sync(kStream);
    if (pass < 3) p.pop();
  }
  p.end();
  const auto report = trace.report();
  const auto fault = only(report, "host-sync");
  EXPECT_EQ(fault.count, 15u);
  ASSERT_TRUE(fault.per_step);
  EXPECT_EQ(fault.per_step->steps, 2u);
  EXPECT_EQ(fault.per_step->count, 2);
  EXPECT_EQ(fault.per_step->blocked_us, 4);
  ASSERT_EQ(fault.per_step->left_out.size(), 2u);
  EXPECT_EQ(fault.per_step->left_out[0].steps, 1u);
  EXPECT_EQ(fault.per_step->left_out[0].why, "warm-up");
  EXPECT_EQ(fault.per_step->left_out[1].steps, 1u);
  EXPECT_EQ(fault.per_step->left_out[1].why, "not finished");
  // One denominator for the finding and for the metrics.
  EXPECT_EQ(report.metrics.at("steps"), 2);
  EXPECT_EQ(report.metrics.at("waits_per_step"), 2);
  EXPECT_EQ(report.metrics.at("blocked_us_per_step"), 4);
}

TEST_F(PerStep, ARareFaultIsAPartOfOneAStep) {
  const auto fault = only(passes(
                              [&](int pass) {
                                line(52), p.launch(kStream);
                                if (pass == 3) p.sync(kStream);
                              },
                              5),
                          "host-sync");
  ASSERT_TRUE(fault.per_step);
  EXPECT_EQ(fault.per_step->steps, 4u);
  EXPECT_EQ(fault.per_step->count, 0.25);
  EXPECT_EQ(fault.per_step->blocked_us, 0.5);
}

TEST_F(PerStep, WhatOnlyTheWarmUpDoesCostsNothing) {
  const auto fault = only(passes([&](int pass) {
                            line(52), p.launch(kStream);
                            if (pass == 0) p.sync(kStream);
                          }),
                          "host-sync");
  EXPECT_EQ(fault.per_step, std::nullopt);
}

// Passes of two processes count together.
TEST_F(PerStep, RanksShareOneDenominator) {
  ProcessBuilder& q = trace.process(200);
  for (ProcessBuilder* rank : {&p, &q}) {
    for (int pass = 0; pass < (rank == &p ? 3 : 5); ++pass) {
      rank->push("step");
      rank->at("step.cpp", 52, "step");
      rank->sync(kStream);
      rank->pop();
    }
    rank->end();
  }
  const auto fault = only(trace.report(), "host-sync");
  EXPECT_EQ(fault.per_step->steps, 6u);
  EXPECT_EQ(fault.per_step->count, 1);
  EXPECT_EQ(fault.per_step->left_out.at(0).steps, 2u);
}

TEST_F(PerStep, BetweenReplaysTheStepsAreTheReplays) {
  line(10), p.healthy_capture();
  for (int step = 0; step < 6; ++step) {
    line(20), p.replay();
    step < 4 ? line(52) : p.nowhere();
    p.sync(kStream), p.sync(kStream);
  }
  p.end();
  const auto report = trace.report();
  const auto fault = only(report, "host-sync");
  ASSERT_TRUE(fault.per_step) << text(report);
  EXPECT_EQ(fault.per_step->steps, 4u);
  EXPECT_EQ(fault.per_step->count, 2);
  EXPECT_EQ(fault.per_step->blocked_us, 4);
  ASSERT_EQ(fault.per_step->left_out.size(), 1u);
  EXPECT_EQ(fault.per_step->left_out[0].why, "recorded without stacks");
}

}  // namespace
}  // namespace capgate::test
