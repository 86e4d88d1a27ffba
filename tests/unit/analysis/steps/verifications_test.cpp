// Verifications in built runs: what the trace bears out is counted, and nothing else.
#include "tests/unit/analysis/verified_run.h"

namespace capgate::test {
namespace {

using reports::ReplayResult;

TEST_F(Verifications, OneThatTheTraceBearsOutCounts) {
  captured_in("bs=8");
  verify({});
  const auto report = this->report();
  ASSERT_TRUE(report.coverage.replay);
  const auto& replay = *report.coverage.replay;
  ASSERT_EQ(replay.verified.size(), 1u);
  reports::VerifiedReplay expected;
  expected.name = "decode";
  expected.executable = "100:e1";
  expected.captures = {"100:1"};
  expected.buckets = {"bs=8"};
  expected.input_sets = 2;
  expected.steps = 3;
  expected.refilled_bytes = 4096;
  expected.noise = 0.25;
  expected.outputs = {"logits", "position"};
  expected.unvaried = {"position"};
  expected.result = ReplayResult::equal;
  EXPECT_EQ(replay.verified[0], expected) << replay.verified[0].why;
  EXPECT_TRUE(replay.not_verified.empty());
  EXPECT_EQ(replay.records_lost, 0u);
  EXPECT_EQ(faults(report), Faults{});
  EXPECT_EQ(report.verdict, reports::Verdict::pass);
}

// Between two launches it waits, copies and compares; a program that did so in each step would be told.
TEST_F(Verifications, WhatTheyDoBetweenLaunchesIsNoStep) {
  captured();
  verify({});
  EXPECT_EQ(faults(report()), Faults{});
  EXPECT_FALSE(report().metrics.contains("waits_per_step"));
}

TEST_F(Verifications, StepsAroundThemAreStillJudged) {
  captured();
  verify({});
  for (int i = 0; i < 4; ++i) {
    launched();
    p.at("step.cpp", 60, "decode");
    p.sync(kStream);
    p.sync(kStream);
  }
  EXPECT_EQ(only(report(), "host-sync").location.line, 60);
}

TEST_F(Verifications, ARunWithoutOneSaysNothing) {
  captured();
  launched(3);
  const auto report = this->report();
  EXPECT_EQ(report.coverage.replay, (reports::ReplayCoverage{1, 3, reports::MemoryWatched::blocks, {}}));
}

TEST_F(Verifications, AGraphThatIsNeverLaunchedInItIsNotVerified) {
  captured();
  verify({.replays = [this](int, int) { p.launch(kStream, "eager"); }});
  launched(2);
  const auto report = this->report();
  expect_not_counted(report, "the thread that verifies launched no executable graph in it");
  EXPECT_FALSE(report.coverage.replay->verified[0].executable);
  EXPECT_EQ(
      report.coverage.replay->verified[0].remedy,
      "give verify_replay the program's own launch of the graph (replay=), made on the thread that calls it, "
      "then: capgate audit -- PROGRAM");
  ASSERT_EQ(report.coverage.replay->not_verified.size(), 1u);
  EXPECT_EQ(report.coverage.replay->not_verified[0].why, "no verification launched it");
  EXPECT_EQ(report.coverage.replay->not_verified[0].launches, 2u);
}

// A server replays all the time: that says nothing about the one that is verified.
TEST_F(Verifications, LaunchesOfAnotherThreadAreNotItsOwn) {
  captured();
  verify({.replays = [this](int, int) {
    p.thread(777);
    p.replay();
    p.thread(p.pid());
  }});
  expect_not_counted(report(), "the thread that verifies launched no executable graph in it");
}

TEST_F(Verifications, ALaunchThatCudaRefusedIsNone) {
  captured();
  verify({.replays = [this](int, int) { p.replay().result = 1; }});
  EXPECT_FALSE(report().coverage.replay->verified[0].executable);
}

TEST_F(Verifications, InputsThatNobodyWritesDoNotChange) {
  captured();
  verify({.loads = [](int, int) {}});
  expect_not_counted(report(), "nothing wrote to the device while its inputs were loaded");
}

TEST_F(Verifications, AKernelLoadsInputsToo) {
  captured();
  verify({.loads = [this](int, int) { p.launch(kStream, "fill_inputs"); }});
  EXPECT_EQ(report().coverage.replay->verified[0].result, ReplayResult::equal);
}

// The host writes pinned memory without any call.
TEST_F(Verifications, AGraphThatReadsTheHostNeedsNoWriteToTheDevice) {
  p.begin_capture();
  const uint64_t maker = p.copy_async(kStream, Memory::device, Memory::pinned, 64).h.seq;
  p.end_capture();
  p.copy_node(kGraph, 0xb1, maker, kBlock, Memory::device, 0x7e0000000000, Memory::pinned, HostPlace::unknown,
              64);
  p.instantiate();
  verify({.loads = [](int, int) {}});
  EXPECT_EQ(report().coverage.replay->verified[0].result, ReplayResult::equal);
}

TEST_F(Verifications, OutputsThatNobodyCopiesAreNotCompared) {
  captured();
  verify({.reads = [](uint64_t, uint64_t) {}});
  expect_not_counted(report(), "no copy of logits follows its launches");
}

TEST_F(Verifications, ACopyOfAPartIsNoCopyOfTheOutput) {
  captured();
  verify({.reads = [this](uint64_t address, uint64_t bytes) {
    p.copy(Memory::pageable, Memory::device, bytes / 2).src = address;
  }});
  expect_not_counted(report(), "no copy of logits follows its launches");
}

TEST_F(Verifications, OutputsThatKernelsCopyAreNotCalledUncopied) {
  captured();
  verify({.reads = [this](uint64_t, uint64_t) { p.launch(kStream, "elementwise_copy"); }});
  expect_not_counted(report(),
                     "no copy of logits follows its launches; kernels ran there, in which the audit sees no "
                     "address");
}

TEST_F(Verifications, OutputsOnTheHostAloneAreNoOutputsOfAGraph) {
  captured();
  verify({.by = "host"});
  expect_not_counted(report(), "no copy of any output on the device follows its launches");
}

TEST_F(Verifications, AnOutputThatIsNotDenseIsCopiedByAKernel) {
  captured();
  verify({.by = "kernel", .reads = [this](uint64_t, uint64_t) { p.launch(kStream, "copy"); }});
  EXPECT_EQ(report().coverage.replay->verified[0].result, ReplayResult::equal);
}

TEST_F(Verifications, AnEagerStepThatLaunchesTheGraphComparesItWithItself) {
  captured();
  verify({.eager = [this](int, int) { p.replay(); }});
  expect_not_counted(report(), "the eager step launches this graph, too: it was compared with itself");
}

TEST_F(Verifications, AnEagerStepThatLaunchesACopyOfTheGraphDoesToo) {
  captured();
  p.instantiate(kExec + 1);
  verify({.eager = [this](int, int) { p.replay(kExec + 1); }});
  expect_not_counted(report(), "the eager step launches this graph, too: it was compared with itself");
}

TEST_F(Verifications, AnotherThreadMayLaunchItForTheEagerStep) {
  captured();
  verify({.eager = [this](int, int) {
    p.thread(777);
    p.replay();
    p.thread(p.pid());
  }});
  expect_not_counted(report(), "the eager step launches this graph, too: it was compared with itself");
}

// Whatever the graph did, the eager step then wrote over it.
TEST_F(Verifications, AReplayThatAlsoRunsTheEagerStepShowsNothing) {
  captured();
  verify({.replays = [this](int, int) {
    p.replay();
    p.launch(kStream, "eager");
  }});
  expect_not_counted(
      report(),
      "its replays run the kernels of the eager step beside the graph: the results are not the graph's");
}

// A piecewise step: what the graph leaves out runs between its pieces.
TEST_F(Verifications, AReplayMayRunAPartOfTheEagerStep) {
  captured();
  verify({.eager =
              [this](int, int) {
                p.launch(kStream, "attention");
                p.launch(kStream, "project");
              },
          .replays =
              [this](int, int) {
                p.launch(kStream, "attention");
                p.replay();
              }});
  EXPECT_EQ(report().coverage.replay->verified[0].result, ReplayResult::equal);
}

TEST_F(Verifications, OneInputSetIsNotEnough) {
  captured();
  verify({.replays = [this](int set, int) {
    if (set == 1) p.replay();
  }});
  const auto report = this->report();
  expect_not_counted(report, "1 input set launched it in 3 consecutive steps or more: it takes 2");
  EXPECT_EQ(report.coverage.replay->verified[0].input_sets, 1u);
}

TEST_F(Verifications, TwoStepsInARowAreNotEnough) {
  captured();
  verify({.replays = [this](int, int step) {
    if (step > 0) p.replay();
  }});
  const auto report = this->report();
  expect_not_counted(report, "0 input sets launched it in 3 consecutive steps or more: it takes 2");
  EXPECT_EQ(report.coverage.replay->verified[0].steps, 2u);
}

TEST_F(Verifications, InputSetsThatChangeNothingForThisGraphDoNotCount) {
  captured();
  verify({.sets = 3,
          .replays =
              [this](int set, int) {
                if (set > 0) p.replay();
              },
          .how = "refilled=4096 varied=1,2"});
  expect_not_counted(report(),
                     "it is not shown that the input sets that launched it give different eager results");
}

TEST_F(Verifications, WhatDidNotComeToAnEndIsNotCounted) {
  captured();
  verify({.result = ""});
  expect_not_counted(report(), "it did not end");
}

TEST_F(Verifications, ItsOwnReasonIsTheReason) {
  for (const auto& [result, how, why] :
       {std::tuple("nothing", "why=2 steps: give 3 or more", "2 steps: give 3 or more"),
        std::tuple("raised", "why=RuntimeError: no more memory",
                   "an exception ended it: RuntimeError: no more memory")}) {
    TraceBuilder other;
    Verified run(other.process());
    run.captured();
    run.verify({.result = result, .how = how});
    other.process().end();
    expect_not_counted(other.report(), why);
  }
}

TEST_F(Verifications, OneRoundIsCountedAndSaysSo) {
  captured();
  verify({.rounds = 1, .how = "refilled=0 varied=1"});
  const auto verified = report().coverage.replay->verified[0];
  EXPECT_EQ(verified.result, ReplayResult::equal);
  EXPECT_EQ(verified.refilled_bytes, 0u);
}

// The claim alone fills nothing: its second round must be there.
TEST_F(Verifications, ARoundThatIsNotInTheTraceIsNone) {
  captured();
  verify({.rounds = 1});
  EXPECT_EQ(report().coverage.replay->verified[0].refilled_bytes, 0u);
}

TEST_F(Verifications, EachExecutableIsItsOwn) {
  captured_in("bs=1");
  p.mark(trace::MarkOp::bucket_push, "bs=8");
  captured(kBlock + 64, kGraph + 1, kExec + 1);
  p.mark(trace::MarkOp::bucket_pop);
  verify({});
  launched(5, kExec + 1);
  const auto report = this->report();
  const auto& replay = *report.coverage.replay;
  ASSERT_EQ(replay.verified.size(), 1u);
  EXPECT_EQ(replay.verified[0].buckets, std::vector<std::string>{"bs=1"});
  ASSERT_EQ(replay.not_verified.size(), 1u);
  EXPECT_EQ(replay.not_verified[0].executable, "100:e2");
  EXPECT_EQ(replay.not_verified[0].buckets, std::vector<std::string>{"bs=8"});
  EXPECT_EQ(replay.not_verified[0].launches, 5u);
}

TEST_F(Verifications, AStepOfTwoGraphsVerifiesBoth) {
  captured();
  captured(kBlock + 64, kGraph + 1, kExec + 1);
  verify({.replays = [this](int, int) {
    p.replay();
    p.replay(kExec + 1);
  }});
  const auto report = this->report();
  const auto& replay = *report.coverage.replay;
  ASSERT_EQ(replay.verified.size(), 2u);
  for (const auto& verified : replay.verified)
    EXPECT_EQ(verified.result, ReplayResult::equal) << verified.why;
  EXPECT_TRUE(replay.not_verified.empty());
}

TEST_F(Verifications, WhatIsUpdatedLaterIsNotWhatWasVerified) {
  captured();
  verify({});
  CallRecord& update = p.call(Family::graph_exec_update, "cudaGraphExecUpdate");
  update.object = kExec;
  update.object2 = kGraph;
  p.contents(kGraph, 0);
  launched();
  const auto report = this->report();
  const auto& replay = *report.coverage.replay;
  ASSERT_EQ(replay.not_verified.size(), 1u);
  EXPECT_EQ(replay.not_verified[0].why,
            "it was also launched with other contents: an update or a change of a node lies between");
}

TEST_F(Verifications, LostRecordsAreCounted) {
  captured();
  verify({});
  p.count("thinned:room", 7);
  p.count("thinned:step", 100);
  p.dropped = 2;
  EXPECT_EQ(report().coverage.replay->records_lost, 9u);
}

TEST_F(Verifications, RecordsWithoutABeginSayNothing) {
  captured();
  p.verify(trace::VerifyOp::step, "load", "run=replay set=0 step=0 filling=0 refilled=0");
  p.verify(trace::VerifyOp::end, "equal", "refilled=1 varied=1");
  launched(3);
  EXPECT_TRUE(report().coverage.replay->verified.empty());
}

}  // namespace
}  // namespace capgate::test
