// Steps between replays: what each of them repeats.
#include <algorithm>

#include "tests/unit/analysis/expect.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {
namespace {

using reports::Phase;
using reports::Severity;
using reports::Verdict;
using Faults = std::vector<std::string>;

class ReplayStep : public testing::Test {
 protected:
  template <class Body>
  reports::Report replays(Body body, int count = 5) {
    p.at("decode.cpp", 10, "capture");
    p.healthy_capture();
    for (int step = 0; step < count; ++step) {
      p.at("decode.cpp", 20, "loop");
      p.replay();
      body(step);
    }
    p.end();
    return trace.report();
  }

  TraceBuilder trace;
  ProcessBuilder& p = trace.process();
};

TEST_F(ReplayStep, OneWaitAStepIsWithinTheBudget) {
  const auto report = replays([&](int) {
    p.at("decode.cpp", 30, "read_token");
    p.sync(kStream);
  });
  EXPECT_EQ(faults(report), Faults{"note host-sync decode.cpp:30 read_token"}) << text(report);
  EXPECT_EQ(report.violations[0].phase, Phase::step);
  EXPECT_EQ(report.verdict, Verdict::pass);
  EXPECT_EQ(report.metrics.at("waits_per_step"), 1);
  EXPECT_EQ(report.metrics.at("blocked_us_per_step"), 2);
}

TEST_F(ReplayStep, AboveTheBudgetIsAWarning) {
  const auto report = replays([&](int) {
    p.at("decode.cpp", 30, "read_token");
    p.sync(kStream);
    p.at("decode.cpp", 31, "check");
    p.device_sync();
  });
  EXPECT_EQ(faults(report),
            (Faults{"warning host-sync decode.cpp:30 read_token", "warning host-sync decode.cpp:31 check"}));
  EXPECT_EQ(report.verdict, Verdict::pass);
}

// Two steps in flight: what is waited for was recorded before the last launch.
TEST_F(ReplayStep, AWaitForTheStepBeforeTheLastLaunchIsHidden) {
  const auto ready = [](int step) { return uint64_t(7 + step % 2); };
  const auto hidden = replays([&](int step) {
    p.at("decode.cpp", 21, "loop");
    p.record(ready(step), kStream);
    if (step == 0) return;
    p.at("decode.cpp", 30, "read_token");
    p.event_sync(ready(step - 1));
  });
  EXPECT_EQ(only(hidden, "host-sync").situation, "host-sync.within-budget-hidden") << text(hidden);
}

TEST_F(ReplayStep, AWaitForTheLastLaunchIsNotHidden) {
  const auto report = replays([&](int) {
    p.at("decode.cpp", 21, "loop");
    p.record(7, kStream);
    p.at("decode.cpp", 30, "read_token");
    p.event_sync(7);
  });
  EXPECT_EQ(only(report, "host-sync").situation, "host-sync.within-budget") << text(report);
}

// A prompt that is read between two replays waits more often; what a step does is what most of them do.
TEST_F(ReplayStep, TheBudgetIsComparedWithWhatMostStepsDo) {
  const auto message = [](int prompts) {
    TraceBuilder run;
    ProcessBuilder& q = run.process();
    q.at("decode.cpp", 10, "capture");
    q.healthy_capture();
    for (int step = 0; step < 11; ++step) {
      q.at("decode.cpp", 20, "loop");
      q.replay();
      q.at("decode.cpp", 30, "read_token");
      q.sync(kStream);
      if (step < prompts) q.sync(kStream), q.sync(kStream);
    }
    q.end();
    return only(run.report(), "host-sync").message;
  };
  EXPECT_EQ(message(0), "the host waits between two replays: all 10 steps keep to the budget of 1 wait");
  EXPECT_EQ(message(3), "the host waits between two replays: 7 of 10 steps keep to the budget of 1 wait");
  EXPECT_EQ(message(7), "the host waits between two replays: 7 of 10 steps go over the budget of 1 wait");
}

TEST_F(ReplayStep, SeveralWaitsAreAnsweredByTheStreamsThatTheyAreFor) {
  const auto situations = [&](auto body, uint64_t flags) {
    TraceBuilder run;
    ProcessBuilder& q = run.process();
    q.stream(kStream, flags);
    q.at("decode.cpp", 10, "capture");
    q.healthy_capture();
    for (int step = 0; step < 5; ++step) {
      q.at("decode.cpp", 20, "loop");
      q.replay();
      body(q);
    }
    q.end();
    std::vector<std::string> out;
    for (const auto& v : run.report().violations) out.push_back(v.situation);
    std::sort(out.begin(), out.end());
    return out;
  };
  const auto wait_at = [](ProcessBuilder& q, int line, uint64_t stream) {
    q.at("decode.cpp", line, "wait");
    q.sync(stream);
  };
  const auto twice = [&](ProcessBuilder& q) { wait_at(q, 30, kStream), wait_at(q, 31, kStream); };
  EXPECT_EQ(situations(twice, 1),
            (Faults{"host-sync.over-budget-one-stream", "host-sync.over-budget-one-stream"}));
  const auto by_event = [&](ProcessBuilder& q) {
    wait_at(q, 30, kStream);
    q.record(7, kSide);
    q.at("decode.cpp", 31, "wait");
    q.event_sync(7);
  };
  EXPECT_EQ(situations(by_event, 1), (Faults{"host-sync.over-budget", "host-sync.over-budget"}));
  const auto then_copies = [&](ProcessBuilder& q) {
    wait_at(q, 30, kStream);
    q.at("decode.cpp", 31, "read");
    q.copy(Memory::pageable, Memory::device, 4);
  };
  EXPECT_EQ(situations(then_copies, 0),
            (Faults{"host-sync.over-budget-before-copy", "sync-copy.read-between-replays"}));
  EXPECT_EQ(situations(then_copies, 1),
            (Faults{"host-sync.over-budget-one-stream", "sync-copy.read-beside-a-non-blocking-stream"}))
      << "the copy does not wait for a non-blocking stream";
}

TEST_F(ReplayStep, ACopyBetweenReplaysHasItsDirectionAndTheGraphsStream) {
  const auto copied = [](Memory to, Memory from, uint64_t flags) {
    TraceBuilder run;
    ProcessBuilder& q = run.process();
    q.stream(kStream, flags);
    q.at("decode.cpp", 10, "capture");
    q.healthy_capture();
    for (int step = 0; step < 5; ++step) {
      q.at("decode.cpp", 20, "loop");
      q.replay();
      q.at("decode.cpp", 30, "copy");
      q.copy(to, from, 64);
    }
    q.end();
    return only(run.report(), "sync-copy");
  };
  const auto read = copied(Memory::pageable, Memory::device, 1);
  EXPECT_EQ(read.details.at("direction"), "device to host");
  EXPECT_EQ(read.situation, "sync-copy.read-beside-a-non-blocking-stream");
  const auto write = copied(Memory::device, Memory::pageable, 1);
  EXPECT_EQ(write.details.at("direction"), "host to device");
  EXPECT_EQ(write.situation, "sync-copy.write-between-replays");
  EXPECT_EQ(copied(Memory::device, Memory::pageable, 0).situation,
            "sync-copy.write-beside-a-blocking-stream");
}

TEST_F(ReplayStep, MemoryOfPyTorchsAllocatorIsNamedWhereItWasNotFollowed) {
  const auto gaps = [](const std::string& torch, const std::string& blocks) {
    TraceBuilder run;
    ProcessBuilder& q = run.process();
    q.meta("python", "3.12.3");
    if (!torch.empty()) q.meta("torch", torch);
    if (!blocks.empty()) q.meta("torch.blocks", blocks);
    q.at("decode.cpp", 10, "capture");
    q.healthy_capture();
    q.replay();
    q.end();
    const auto all = run.report().coverage.not_checked;
    return std::count_if(all.begin(), all.end(), [](const std::string& gap) {
      return gap.starts_with("memory that PyTorch's allocator takes back while a graph refers to it: ");
    });
  };
  EXPECT_EQ(gaps("", ""), 0);
  EXPECT_EQ(gaps("2.11.0", ""), 1);
  EXPECT_EQ(gaps("2.11.0", "lost: there was no room for all of them"), 1);
  EXPECT_EQ(gaps("2.11.0", "followed"), 0);
}

TEST_F(ReplayStep, WaitsOfAnEagerBreakAreOutsideTheBudget) {
  const auto report = replays([&](int) {
    p.at("decode.cpp", 30, "experts");
    p.mark(trace::MarkOp::break_begin, "experts");
    p.sync(kStream);
    p.sync(kStream);
    p.mark(trace::MarkOp::break_end);
  });
  EXPECT_EQ(faults(report), Faults{"note host-sync decode.cpp:30 experts"}) << text(report);
  EXPECT_EQ(only(report, "host-sync").message, "the host waits between two replays, in an eager break");
}

TEST_F(ReplayStep, TheBudgetIsASetting) {
  trace.settings = "step_waits = 2\n";
  const auto report = replays([&](int) {
    p.at("decode.cpp", 30, "read_token");
    p.sync(kStream);
    p.at("decode.cpp", 31, "check");
    p.device_sync();
  });
  for (const auto& v : report.violations) EXPECT_EQ(v.severity, Severity::note) << text(report);
}

TEST_F(ReplayStep, AllocationsInEachStepAreWarned) {
  const auto report = replays([&](int) {
    p.at("decode.cpp", 30, "inputs");
    p.malloc_host(64);
    p.at("decode.cpp", 31, "inputs");
    p.malloc(64);
  });
  EXPECT_EQ(faults(report),
            (Faults{"warning device-alloc decode.cpp:31 inputs", "warning host-alloc decode.cpp:30 inputs"}));
  EXPECT_EQ(report.metrics.at("allocs_per_step"), 2);
}

TEST_F(ReplayStep, WhatOneStepDoesOnceIsSilent) {
  const auto report = replays([&](int step) {
    p.at("decode.cpp", 30, "new_request");
    if (step == 2) p.malloc(64), p.device_sync(), p.copy(Memory::device, Memory::pageable, 64);
  });
  EXPECT_EQ(faults(report), Faults{}) << text(report);
}

TEST_F(ReplayStep, StepsWithoutStacksCountAndNameNothing) {
  const auto report = replays(
      [&](int step) {
        if (step < 4)
          p.at("decode.cpp", 30, "read_token");
        else
          p.nowhere();
        p.sync(kStream);
      },
      20);
  EXPECT_EQ(faults(report), Faults{"note host-sync decode.cpp:30 read_token"}) << text(report);
  EXPECT_EQ(report.metrics.at("waits_per_step"), 1);
}

TEST_F(ReplayStep, OtherBucketsStepsAreNotOneStep) {
  p.at("decode.cpp", 10, "capture");
  p.healthy_capture(kStream, kGraph, kExec);
  p.healthy_capture(kStream, kGraph + 1, kExec + 1);
  for (int round = 0; round < 4; ++round) {
    p.at("decode.cpp", 20, "loop");
    p.replay(kExec);
    for (int step = 0; step < 10; ++step) {
      p.at("decode.cpp", 20, "loop");
      p.replay(kExec + 1);
      p.at("decode.cpp", 30, "read_token");
      p.sync(kStream);
    }
  }
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"note host-sync decode.cpp:30 read_token"}) << text(report);
  EXPECT_EQ(report.metrics.at("waits_per_step"), 1);
}

TEST_F(ReplayStep, PiecewiseGraphsAreOneStep) {
  p.at("decode.cpp", 10, "capture");
  p.healthy_capture(kStream, kGraph, kExec);
  p.healthy_capture(kStream, kGraph + 1, kExec + 1);
  for (int step = 0; step < 5; ++step) {
    p.at("decode.cpp", 20, "loop");
    p.replay(kExec);
    p.launch(kStream);
    p.replay(kExec + 1);
    p.at("decode.cpp", 30, "read_token");
    p.sync(kStream);
  }
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"note host-sync decode.cpp:30 read_token"}) << text(report);
  EXPECT_EQ(report.violations[0].count, 4u);  // five launches of a graph have four steps between them
}

TEST_F(ReplayStep, PinnedInputsAndEventsBetweenReplaysAreSilent) {
  const auto report = replays([&](int) {
    p.at("decode.cpp", 30, "inputs");
    p.copy_async(kStream, Memory::device, Memory::pinned, 64);
    p.record(7, kStream);
    p.wait(kSide, 7);
    p.launch(0);
  });
  EXPECT_EQ(faults(report), Faults{});
}

}  // namespace
}  // namespace capgate::test
