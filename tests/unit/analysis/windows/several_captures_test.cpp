// More than one capture: attempts that are repeated, captures at once, other threads.
#include "detector/analysis/results.h"
#include "tests/unit/analysis/windows/one_capture.h"

namespace capgate::test {
namespace {

using analysis::kCaptureInvalidated;
using reports::Verdict;
using Faults = std::vector<std::string>;

class SeveralCaptures : public OneCapture {};

TEST_F(SeveralCaptures, ALineInSeveralCapturesIsCountedInAllOfThem) {
  for (uint64_t k = 0; k < 3; ++k) {
    p.at("step.cpp", 10, "capture");
    p.begin_capture(kStream + k * 0x10);
    p.launch(kStream + k * 0x10);
    fault_line();
    p.launch(kSide + k * 0x10);
    if (k == 0) p.launch(kSide);
    p.at("step.cpp", 11, "capture");
    p.end_capture(kStream + k * 0x10, 1, 0, kGraph + k);
    p.instantiate(kExec + k, kGraph + k);
    for (uint64_t launch = 0; launch <= k; ++launch) p.replay(kExec + k, kStream + k * 0x10);
  }
  p.end();
  const auto fault = only(trace.report(), "escaped-work");
  EXPECT_EQ(fault.count, 4u);
  EXPECT_EQ(fault.capture, "100:1");
  EXPECT_EQ(fault.details.at("captures"), "3");
  EXPECT_EQ(fault.details.at("launches"), "6");
  EXPECT_EQ(fault.details.count("times captured"), 0u);
  ASSERT_TRUE(fault.stream);
  EXPECT_TRUE(fault.stream->ends_with(" and 2 more")) << *fault.stream;
  EXPECT_EQ(fault.thread, "main");
}

TEST_F(SeveralCaptures, EveryCaptureThatALineKilledIsCounted) {
  for (uint64_t k = 0; k < 2; ++k) {
    p.at("step.cpp", 10, "capture");
    p.begin_capture(kStream);
    p.launch(kStream);
    fault_line();
    p.sync(kStream, 900);
    p.at("step.cpp", 11, "capture");
    p.end_capture(kStream, 0, 901);
  }
  p.end();
  const auto fault = only(trace.report(), "host-sync");
  EXPECT_EQ(fault.count, 2u);
  EXPECT_EQ(fault.details.at("consequence"), "killed 2 captures, such as capture 1 of s1");
  EXPECT_EQ(fault.details.at("launches"), "0");
}

TEST_F(SeveralCaptures, RetryAtTheSameSiteMakesItANote) {
  begin();
  fault_line();
  p.malloc(64, analysis::kCaptureUnsupported);
  end_dead();
  begin();
  end_alive();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"note device-alloc step.cpp:50 route"}) << text(report);
  EXPECT_EQ(report.verdict, Verdict::pass);
}

// A class that wraps captures begins all of them at its own line.
TEST_F(SeveralCaptures, ACaptureOfAnotherStepThroughTheSameWrapperIsNoRetry) {
  p.in_library("decode", "Wrapper::begin", "step.cpp", 10, "capture");
  p.begin_capture(kStream);
  fault_line();
  p.malloc(64, analysis::kCaptureUnsupported);
  end_dead();
  p.in_library("decode", "Wrapper::begin", "step.cpp", 30, "capture");
  p.begin_capture(kStream);
  p.launch(kStream);
  end_alive();
  EXPECT_EQ(expect("error device-alloc").coverage.captures_failed, 1u);
}

TEST_F(SeveralCaptures, MoreThanAFewFailuresAreNoFirstAttempt) {
  for (const auto& [failures, severity] : {std::pair{3, "note"}, {4, "error"}}) {
    TraceBuilder own;
    ProcessBuilder& b = own.process();
    for (int i = 0; i <= failures; ++i) {
      b.at("step.cpp", 10, "capture");
      b.begin_capture(kStream);
      b.at("step.cpp", 50, "route");
      if (i < failures) {
        b.malloc(64, analysis::kCaptureUnsupported);
        b.at("step.cpp", 90, "capture");
        b.end_capture(kStream, 0, kCaptureInvalidated);
      } else {
        b.launch(kStream);
        b.end_capture(kStream, 1);
      }
    }
    b.instantiate();
    b.replay();
    b.end();
    const auto report = own.report();
    ASSERT_FALSE(report.violations.empty());
    EXPECT_EQ(reports::name(report.violations[0].severity), severity) << failures;
  }
}

// Two threads run the same code: what was under way already is no second attempt of what failed.
TEST_F(SeveralCaptures, AParallelCaptureOfTheSameSiteIsNoRetry) {
  constexpr uint64_t kThreadLocal = 1;
  p.at("step.cpp", 10, "capture");
  p.begin_capture(kStream, kThreadLocal);
  p.thread(200);
  p.begin_capture(kSide, kThreadLocal);
  p.launch(kSide);
  p.thread(100);
  fault_line();
  p.sync(kStream, analysis::kCaptureUnsupported);
  p.at("step.cpp", 90, "capture");
  p.end_capture(kStream, 0, kCaptureInvalidated);
  p.thread(200);
  p.end_capture(kSide);
  p.instantiate();
  p.replay();
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error host-sync step.cpp:50 route"}) << text(report);
  EXPECT_EQ(report.verdict, Verdict::fail);
}

TEST_F(SeveralCaptures, ACaptureThatFailsBetweenReplaysOfItsSiteStaysAnError) {
  begin();
  end_alive();
  begin();
  fault_line();
  p.malloc(64, analysis::kCaptureUnsupported);
  end_dead();
  p.replay();
  begin();
  end_alive();
  EXPECT_EQ(faults(trace.report()), Faults{"error device-alloc step.cpp:50 route"});
}

TEST_F(SeveralCaptures, AnotherThreadsMallocKillsAGlobalCapture) {
  begin();
  p.thread(200);
  p.name_thread("loader");
  fault_line();
  p.malloc(64, analysis::kCaptureUnsupported);
  p.thread(100);
  end_dead();
  const auto report = expect("error cross-thread-call");
  EXPECT_NE(report.violations[0].message.find("loader"), std::string::npos) << text(report);
}

TEST_F(SeveralCaptures, AnotherThreadThatBrokeNothingGivesOneNote) {
  begin();
  p.thread(200);
  fault_line();
  p.event_query(7);
  p.at("step.cpp", 51, "route");
  p.event_query(7);
  p.thread(100);
  end_alive();
  expect("note cross-thread-call");
}

TEST_F(SeveralCaptures, AnotherThreadWithItsModeExchangedIsSilent) {
  begin();
  p.thread(200);
  for (const uint8_t mode : {1, 2}) {
    p.thread_mode(mode);
    p.event_query(7);
    p.malloc(64);
  }
  p.thread(100);
  p.thread_mode(0);
  end_alive();
  EXPECT_EQ(faults(trace.report()), Faults{});
}

TEST_F(SeveralCaptures, AnotherThreadIsSilentForAThreadLocalCapture) {
  begin(1);
  p.thread(200);
  p.malloc(64);
  p.event_query(7);
  p.launch(kSide);
  p.thread(100);
  end_alive();
  EXPECT_EQ(faults(trace.report()), Faults{});
}

TEST_F(SeveralCaptures, AThreadThatWorksOnTheCaptureBelongsToIt) {
  begin();
  p.thread(200);
  p.at("step.cpp", 30, "helper");
  p.launch(kStream);
  fault_line();
  p.launch(kSide);
  p.thread(100);
  end_alive(2);
  expect("error escaped-work");
}

TEST_F(SeveralCaptures, TwoCapturesAtOnceAreToldApart) {
  begin(1);
  p.thread(200);
  p.at("other.cpp", 10, "capture");
  p.begin_capture(kSide, 1);
  p.launch(kSide);
  p.at("step.cpp", 50, "route");
  p.sync(kSide, analysis::kCaptureUnsupported);
  p.end_capture(kSide, 0, kCaptureInvalidated);
  p.thread(100);
  end_alive();
  const auto report = expect("error host-sync");
  EXPECT_EQ(report.coverage.captures_completed, 1u);
  EXPECT_EQ(report.coverage.captures_failed, 1u);
}

}  // namespace
}  // namespace capgate::test
