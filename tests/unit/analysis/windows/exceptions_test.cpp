// Captures that an exception left, and those that a framework went without.
#include <map>

#include "tests/unit/analysis/expect.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {
namespace {

using reports::Severity;
using reports::Verdict;
using trace::ExceptionEvent;
using trace::ExceptionLanguage;
using Faults = std::vector<std::string>;

constexpr auto kPython = ExceptionLanguage::python;
constexpr auto kCxx = ExceptionLanguage::cxx;
const char* const kPageable =
    "Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU tensor is pinned.\n"
    "Please use tensor.pin_memory()";

class LeftCapture : public testing::Test {
 protected:
  TraceBuilder trace;
  ProcessBuilder& p = trace.process();

  void begin() {
    p.in_python("serve.py", 20, "capture");
    p.begin_capture();
    p.launch(kStream);
  }
  void raise_at_50(ExceptionEvent event, const std::string& type, const std::string& text,
                   uint64_t object = 0x5000) {
    p.in_python("serve.py", 50, "route");
    p.exception(event, kPython, type, text, object);
  }
  void end_capture(uint64_t nodes = 1) {
    p.in_python("serve.py", 20, "capture");
    p.end_capture(kStream, nodes);
  }
};

TEST_F(LeftCapture, AnExceptionThatLeavesIsTheFault) {
  begin();
  raise_at_50(ExceptionEvent::leaves, "KeyError", "no configuration for batch 4");
  end_capture();
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error capture-invalidated serve.py:50 route"}) << text(report);
  EXPECT_EQ(report.verdict, Verdict::fail);
  const auto& fault = report.violations.at(0);
  EXPECT_EQ(fault.message.find("killed capture 1 of s1: KeyError left it, \"no configuration for batch 4\"; "
                               "the capture was ended there, and its graph was never launched"),
            0u)
      << fault.message;
  EXPECT_EQ(fault.details.at("exception"), "KeyError: no configuration for batch 4");
  EXPECT_EQ(fault.result, "KeyError");
  EXPECT_FALSE(fault.api);
  EXPECT_EQ(fault.capture, "100:1");
  EXPECT_EQ(report.captures.at(0).result, "failed:KeyError");
  EXPECT_EQ(report.coverage.captures_failed, 1u);
  EXPECT_EQ(report.coverage.captures_completed, 0u);
}

TEST_F(LeftCapture, ACopyThatTheFrameworkRefusesIsNamedByTheRuleOfCopies) {
  begin();
  p.in_python("serve.py", 50, "route");
  p.exception(ExceptionEvent::thrown, kCxx, "N3c105ErrorE", kPageable);
  raise_at_50(ExceptionEvent::leaves, "RuntimeError", kPageable);
  end_capture(0);
  raise_at_50(ExceptionEvent::uncaught, "RuntimeError", kPageable);
  p.end();
  trace.run.exit_code = 1;
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error pageable-copy serve.py:50 route"}) << text(report);
  EXPECT_EQ(report.verdict, Verdict::fail);
  const auto& fault = report.violations.at(0);
  EXPECT_EQ(fault.result, "refused by PyTorch");
  ASSERT_FALSE(fault.stacks.empty());
  EXPECT_EQ(fault.stacks[0].frames.at(1).function, "at::native::copy_") << "the throw's own stack";
  EXPECT_EQ(fault.details.at("exception"), std::string("RuntimeError: ") + kPageable);
}

TEST_F(LeftCapture, OneThatStaysInsideIsSilent) {
  begin();
  p.at("serve.cpp", 50, "route");
  p.exception(ExceptionEvent::thrown, kCxx, "St12out_of_range", "map::at");
  p.launch(kStream);
  end_capture();
  p.instantiate();
  p.replay();
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{}) << text(report);
  EXPECT_EQ(report.verdict, Verdict::pass);
}

TEST_F(LeftCapture, AnAttemptThatASecondOneReplacesIsANote) {
  begin();
  raise_at_50(ExceptionEvent::leaves, "KeyError", "'4'");
  end_capture();
  begin();
  end_capture();
  p.instantiate();
  p.replay();
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"note capture-invalidated serve.py:50 route"}) << text(report);
  EXPECT_EQ(report.verdict, Verdict::pass);
}

TEST_F(LeftCapture, AGraphOfWhatCameBeforeThatIsLaunchedSaysSo) {
  begin();
  raise_at_50(ExceptionEvent::leaves, "KeyError", "'4'");
  end_capture();
  p.instantiate();
  p.replay();
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(report.verdict, Verdict::fail);
  EXPECT_NE(only(report, "capture-invalidated").message.find("holds only what came before, and was launched"),
            std::string::npos);
}

TEST_F(LeftCapture, OneThatIsHandledWhereTheCaptureEndsIsAFaultOnlyIfTheProgramDiesOfIt) {
  for (const bool dies : {false, true}) {
    TraceBuilder other;
    ProcessBuilder& q = other.process();
    q.in_python("serve.py", 20, "capture");
    q.begin_capture();
    q.launch(kStream);
    q.in_python("serve.py", 50, "route");
    q.exception(ExceptionEvent::handled, kPython, "AssertionError", "width 12");
    q.in_python("serve.py", 22, "capture");
    q.end_capture();
    if (dies) {
      q.exception(ExceptionEvent::uncaught, kPython, "AssertionError", "width 12");
      other.run.exit_code = 1;
    }
    q.end();
    const auto report = other.report();
    EXPECT_EQ(faults(report), dies ? Faults{"error capture-invalidated serve.py:50 route"} : Faults{})
        << text(report);
  }
}

TEST_F(LeftCapture, WhatIsNoErrorIsNoFault) {
  for (const char* type : {"KeyboardInterrupt", "SystemExit", "GeneratorExit"}) {
    TraceBuilder other;
    ProcessBuilder& q = other.process();
    q.in_python("serve.py", 20, "capture");
    q.begin_capture();
    q.launch(kStream);
    q.exception(ExceptionEvent::leaves, kPython, type, "");
    q.end_capture();
    q.end();
    EXPECT_EQ(faults(other.report()), Faults{}) << type;
  }
}

TEST_F(LeftCapture, OneThatIsNeverEnded) {
  begin();
  raise_at_50(ExceptionEvent::uncaught, "ValueError", "5 rows do not fit");
  p.end();
  trace.run.exit_code = 1;
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error capture-invalidated serve.py:50 route"}) << text(report);
  EXPECT_EQ(report.verdict, Verdict::fail);
  EXPECT_NE(report.violations.at(0).message.find("the capture was never ended"), std::string::npos);
  EXPECT_EQ(report.coverage.captures_open, 0u);
}

TEST_F(LeftCapture, InCxxTheThrowThatIsOnItsWayIsTheOneThatTheCountTells) {
  p.at("serve.cpp", 20, "capture");
  p.begin_capture();
  p.launch(kStream);
  p.at("serve.cpp", 50, "route");
  p.exception(ExceptionEvent::thrown, kCxx, "St12out_of_range", "no such expert", 0x5000, 0);
  p.at("serve.cpp", 60, "~Log");
  p.exception(ExceptionEvent::thrown, kCxx, "St11logic_error", "caught on the way", 0x6000, 1);
  p.at("serve.cpp", 22, "~Capture");
  p.exception(ExceptionEvent::leaves, kCxx, "", "", 0, 1);
  p.end_capture();
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error capture-invalidated serve.cpp:50 route"}) << text(report);
  EXPECT_EQ(report.violations.at(0).result, "std::out_of_range");
  EXPECT_EQ(report.violations.at(0).details.at("exception"), "std::out_of_range: no such expert");
}

TEST_F(LeftCapture, InCxxACaptureThatGoesOnAfterTheLastThrowWasNotLeft) {
  for (const bool goes_on : {false, true}) {
    TraceBuilder other;
    ProcessBuilder& q = other.process();
    q.at("serve.cpp", 20, "capture");
    q.begin_capture();
    q.at("serve.cpp", 50, "route");
    q.exception(ExceptionEvent::thrown, kCxx, "St13runtime_error", "lost");
    if (goes_on) q.launch(kStream);
    other.run.exit_code.reset();
    other.run.signal = 6;
    const auto report = other.report();
    EXPECT_EQ(faults(report), goes_on ? Faults{} : Faults{"error capture-invalidated serve.cpp:50 route"})
        << text(report);
  }
}

TEST_F(LeftCapture, WhatCudaRefusedIsTheCauseAndTheExceptionItsConsequence) {
  begin();
  p.in_python("serve.py", 50, "route");
  p.sync(kStream, 900);
  p.exception(ExceptionEvent::leaves, kPython, "RuntimeError", "CUDA error: operation not permitted");
  p.end_capture(kStream, 0, 901);
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error host-sync serve.py:50 route"}) << text(report);
}

TEST_F(LeftCapture, AJoinThatTheExceptionSkippedIsNoFaultOfItsOwn) {
  begin();
  p.record(7, kStream);
  p.wait(kSide, 7);
  p.launch(kSide);
  raise_at_50(ExceptionEvent::leaves, "KeyError", "'4'");
  p.in_python("serve.py", 20, "capture");
  p.end_capture(kStream, 0, 904);
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error capture-invalidated serve.py:50 route"}) << text(report);
}

TEST_F(LeftCapture, OneOfAnotherThreadIsAnotherMatter) {
  begin();
  p.thread(101);
  raise_at_50(ExceptionEvent::uncaught, "ValueError", "of the loader");
  p.thread(100);
  end_capture();
  p.instantiate();
  p.replay();
  p.end();
  EXPECT_EQ(faults(trace.report()), Faults{});
}

class Notices : public LeftCapture {};

TEST_F(Notices, SkippedCapturesAreCountedByPlaceAndReasonAndNamedInTheVerdict) {
  p.in_python("serve.py", 30, "step");
  for (int i = 0; i < 3; ++i)
    p.notice(
        trace::NoticeKind::capture_skipped,
        "skipping cudagraphs due to skipping cudagraphs due to cpu device (arg0_1). Found from : \n   File");
  p.notice(trace::NoticeKind::capture_skipped, "skipping cudagraphs due to mutated inputs (1 instances)");
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report),
            (Faults{"warning capture-skipped serve.py:30 step", "warning capture-skipped serve.py:30 step"}))
      << text(report);
  std::map<std::string, uint64_t> counts;
  for (const auto& violation : report.violations) counts[violation.message] = violation.count;
  EXPECT_EQ(counts, (std::map<std::string, uint64_t>{
                        {"torch.compile goes without a CUDA graph here: cpu device (arg0_1)", 3},
                        {"torch.compile goes without a CUDA graph here: mutated inputs (1 instances)", 1}}));
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_EQ(report.reasons.at(0).text,
            "no capture completed: torch.compile logged 4 times that it goes without CUDA graphs (cpu device "
            "(arg0_1))");
}

TEST_F(Notices, WhereAnotherFunctionIsCapturedASkipIsAWarning) {
  p.in_python("serve.py", 30, "step");
  p.notice(trace::NoticeKind::capture_skipped, "skipping cudagraphs due to mutated inputs (1 instances)");
  begin();
  end_capture();
  p.instantiate();
  p.replay();
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"warning capture-skipped serve.py:30 step"}) << text(report);
  EXPECT_EQ(report.verdict, Verdict::pass);
}

// Recordings of one compiled function, each for another input, and each replayed before the next.
reports::Report recordings(int times, const std::string& notice = "") {
  TraceBuilder trace;
  ProcessBuilder& p = trace.process();
  p.in_python("torch/_inductor/cudagraph_trees.py", 1300, "_record");
  for (int i = 0; i < times; ++i) {
    const uint64_t graph = kGraph + static_cast<uint64_t>(i), exec = kExec + static_cast<uint64_t>(i);
    p.begin_capture();
    p.launch(kStream);
    p.end_capture(kStream, 1, 0, graph);
    p.instantiate(exec, graph);
    p.replay(exec);
    p.replay(exec);
  }
  if (!notice.empty()) p.notice(trace::NoticeKind::many_recordings, notice);
  p.end();
  return trace.report();
}

TEST(Recordings, AFewAreSilentMoreAreANoteAndManyAWarning) {
  EXPECT_EQ(faults(recordings(3)), Faults{});
  EXPECT_EQ(faults(recordings(4)), Faults{"note recapture run.py:3 <module>"});
  EXPECT_EQ(faults(recordings(8)), Faults{"note recapture run.py:3 <module>"});
  const auto many = recordings(9);
  EXPECT_EQ(faults(many), Faults{"warning recapture run.py:3 <module>"}) << text(many);
  EXPECT_EQ(many.violations.at(0).count, 8u);
  EXPECT_EQ(many.verdict, Verdict::pass);
}

TEST(Recordings, WhereTorchComplainsItIsAWarning) {
  const auto report = recordings(3, "… We have observed 9 distinct sizes. Please consider");
  EXPECT_EQ(faults(report), Faults{"warning recapture run.py:3 <module>"}) << text(report);
  EXPECT_NE(report.violations.at(0).message.find(
                "for each new size: 2 more since it first replayed one; torch warned at 9 "
                "distinct sizes"),
            std::string::npos)
      << report.violations.at(0).message;
}

}  // namespace
}  // namespace capgate::test
