// Sentences about public programs that were not right, as they are now: see
// docs/measured/reports-on-public-programs.md.
#include "reports/catalogue/situations.h"
#include "reports/terminal/terminal.h"
#include "tests/unit/analysis/expect.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(PublicPrograms, OneSiteInSixCapturesIsCountedInAllOfThem) {
  TraceBuilder run;
  ProcessBuilder& p = run.process();
  for (uint64_t k = 0; k < 6; ++k) {
    const uint64_t stream = kStream + 0x10 * k;
    p.at("main.cu", 170, "graph");
    p.begin_capture(stream);
    p.at("main.cu", 173, "graph");
    p.copy_async(stream, Memory::device, Memory::pageable, 64, HostPlace::heap);
    p.at("main.cu", 175, "graph");
    p.end_capture(stream, 1, 0, kGraph + k);
    p.instantiate(kExec + k, kGraph + k);
    for (int launch = 0; launch < 3; ++launch) p.replay(kExec + k, stream);
  }
  p.end();
  const std::string shown = reports::render_terminal(run.report(), {});
  EXPECT_TRUE(has(shown, "- 6 times in 6 captures, such as capture 1 of s1\n")) << shown;
  EXPECT_TRUE(has(shown, "no time: each launch uses that address\n")) << shown;
  EXPECT_TRUE(has(shown, "seen 6 times") || has(shown, "seen    6 times")) << shown;
  EXPECT_TRUE(has(shown, "stream s1 and 5 more")) << shown;
  EXPECT_FALSE(has(shown, "all 3 launches")) << shown;
}

TEST(PublicPrograms, WaitsOfCupyAreAnsweredInItsOwnTerms) {
  TraceBuilder run;
  ProcessBuilder& p = run.process();
  p.stream(kStream, 1);
  p.at("graph_decode.cpp", 10, "capture");
  p.healthy_capture();
  for (int step = 0; step < 5; ++step) {
    p.at("graph_decode.cpp", 20, "loop");
    p.replay();
    for (const char* function : {"run", "sample"}) {
      p.in_frames({{"cupy/_core/core.pyx", "get"}, {"graph_decode.py", function}});
      p.sync(kStream);
    }
  }
  p.end();
  const auto report = run.report();
  ASSERT_EQ(report.violations.size(), 2u) << text(report);
  for (const auto& wait : report.violations) {
    EXPECT_EQ(wait.situation, "host-sync.over-budget-cupy") << text(report);
    EXPECT_TRUE(has(wait.hint, "get(stream=s)")) << wait.hint;
    EXPECT_FALSE(has(std::string(reports::example_of(reports::situation_named(wait), wait)), "wait_stream"));
  }
}

TEST(PublicPrograms, AProgramThatEndsForItsDeadCaptureIsNotAskedToEndWell) {
  TraceBuilder run;
  run.run.exit_code = 1;
  ProcessBuilder& p = run.process();
  p.in_python("common.py", 20, "train");
  p.begin_capture();
  p.in_python("common.py", 26, "forward");
  p.sync(kStream, 900);
  p.in_python("common.py", 20, "train");
  p.end_capture(kStream, 0, 901);
  p.end();
  const auto report = run.report();
  ASSERT_EQ(report.reasons.size(), 1u) << text(report);
  EXPECT_TRUE(has(report.reasons[0].text, "ended with exit code 1, after a capture of it had died"));
  EXPECT_EQ(report.reasons[0].remedy, "repair what killed the capture, then audit the program again");
}

// A device synchronize is for every stream, also for those whose kernels are not recorded.
TEST(PublicPrograms, AWaitForTheDeviceIsNotAnsweredAsIfThereWereOneStream) {
  TraceBuilder run;
  ProcessBuilder& p = run.process();
  p.stream(kStream, 1);
  p.at("solver.cu", 10, "capture");
  p.healthy_capture();
  for (int step = 0; step < 5; ++step) {
    p.at("solver.cu", 20, "loop");
    p.replay();
    p.at("solver.cu", 126, "solve");
    p.sync(kStream);
    p.at("solver.cu", 134, "solve");
    p.device_sync();
    p.at("solver.cu", 78, "read");
    p.copy(Memory::pageable, Memory::device, 8);
  }
  p.end();
  for (const auto& v : run.report().violations)
    EXPECT_EQ(v.situation,
              v.rule == "host-sync" ? "host-sync.over-budget" : "sync-copy.read-beside-a-non-blocking-stream")
        << v.location.line;
}

TEST(PublicPrograms, StepsOfOneOfSeveralGraphsAreCalledThat) {
  TraceBuilder run;
  ProcessBuilder& p = run.process();
  p.at("main.cu", 10, "capture");
  p.healthy_capture(kStream, kGraph, kExec);
  p.healthy_capture(kStream, kGraph + 1, kExec + 1);
  for (uint64_t graph = 0; graph < 2; ++graph)
    for (int step = 0; step < 3; ++step) {
      p.at("main.cu", 20, "loop");
      p.replay(kExec + graph);
      p.at("main.cu", 30, "wait");
      p.sync(kStream);
    }
  p.end();
  EXPECT_EQ(only(run.report(), "host-sync").message,
            "the host waits between two replays: all 2 steps of one graph keep to the budget of 1 wait");
}

// The budget, the cost and the figures of the run are about the same steps.
TEST(PublicPrograms, WaitsOfAPromptBetweenTwoReplaysAreCountedOnce) {
  TraceBuilder run;
  ProcessBuilder& p = run.process();
  p.at("generation.cpp", 10, "capture");
  p.healthy_capture();
  for (int step = 0; step < 50; ++step) {
    p.at("generation.cpp", 20, "loop");
    p.replay();
    p.at("generation.cpp", 208, "generate");
    p.sync(kStream);
    if (step == 24) p.sync(kStream);
  }
  p.end();
  const auto report = run.report();
  const auto wait = only(report, "host-sync");
  EXPECT_EQ(wait.message, "the host waits between two replays: 48 of 49 steps keep to the budget of 1 wait");
  ASSERT_TRUE(wait.per_step);
  EXPECT_EQ(wait.per_step->steps, 49u);
  EXPECT_DOUBLE_EQ(wait.per_step->count, report.metrics.at("waits_per_step"));
  EXPECT_EQ(report.metrics.at("steps"), 49);
}

}  // namespace
}  // namespace capgate::test
