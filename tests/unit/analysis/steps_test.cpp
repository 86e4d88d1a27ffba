// Marked eager steps and the steps between replays; what a healthy program does outside every window.
#include <algorithm>

#include "reports/verdict/claims.h"
#include "tests/unit/analysis/expect.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {
namespace {

using reports::Phase;
using reports::Severity;
using reports::Verdict;
using Faults = std::vector<std::string>;

class EagerStep : public testing::Test {
 protected:
  EagerStep() { trace.regions = {"decode*"}; }

  // Three passes of a marked step that all do the same.
  template <class Body>
  reports::Report passes(Body body, int count = 3) {
    for (int pass = 0; pass < count; ++pass) {
      p.push("decode step");
      body(pass);
      p.pop();
    }
    p.end();
    return trace.report();
  }

  TraceBuilder trace;
  ProcessBuilder& p = trace.process();
};

TEST_F(EagerStep, HealthyStepOnTheLegacyStreamIsAPass) {
  const auto report = passes([&](int) {
    p.at("step.cpp", 20, "step");
    p.launch(0);
    p.launch(kSide);
    p.record(7, kSide);
    p.wait(0, 7);
    p.copy_async(0, Memory::device, Memory::pinned, 64);
    p.on_stream(Family::alloc_async, "cudaMallocAsync", kStream);
  });
  EXPECT_EQ(faults(report), Faults{}) << text(report);
  EXPECT_EQ(report.verdict, Verdict::pass);
  EXPECT_EQ(report.coverage.kind, reports::CoverageKind::eager);
  EXPECT_EQ(report.coverage.regions.at(0).occurrences, 3u);
}

TEST_F(EagerStep, TwelveFaultsInOneStepAreTwelveViolations) {
  const auto report = passes([&](int) {
    const auto line = [&](int number) { p.at("step.cpp", number, "step"); };
    line(20), p.launch(0);
    line(21), p.sync(kStream);
    line(22), p.device_sync();
    line(23), p.event_sync(7);
    line(24), p.query(kStream);
    line(25), p.event_query(7);
    line(26), p.copy(Memory::pageable, Memory::device, 4);
    line(27), p.set(64);
    line(28), p.copy_async(kStream, Memory::device, Memory::pageable, 4096, HostPlace::stack);
    line(29), p.malloc(1024);
    line(30), p.free();
    line(31), p.malloc_host(64);
    p.in_python("model/moe.py", 32, "route"), p.item();
    line(33), p.launch(kSide);
  });
  EXPECT_EQ(faults(report),
            (Faults{"error device-alloc step.cpp:29 step", "error device-alloc step.cpp:30 step",
                    "error host-alloc step.cpp:31 step", "error host-poll step.cpp:24 step",
                    "error host-poll step.cpp:25 step", "error host-sync model/moe.py:32 route",
                    "error host-sync step.cpp:21 step", "error host-sync step.cpp:22 step",
                    "error host-sync step.cpp:23 step", "error pageable-copy step.cpp:28 step",
                    "error sync-copy step.cpp:26 step", "error sync-copy step.cpp:27 step"}))
      << text(report);
  EXPECT_EQ(report.verdict, Verdict::fail);
  EXPECT_EQ(report.metrics.at("waits_per_step"), 5);
  EXPECT_EQ(report.metrics.at("allocs_per_step"), 2);
  EXPECT_EQ(report.metrics.at("pageable_bytes_per_step"), 4104);
}

TEST_F(EagerStep, TheSameLineIsCountedAcrossPasses) {
  const auto report = passes([&](int) {
    p.at("step.cpp", 21, "step");
    p.sync(kStream);
    p.sync(kStream);
  });
  EXPECT_EQ(only(report, "host-sync").count, 6u);
  EXPECT_EQ(only(report, "host-sync").phase, Phase::step);
  EXPECT_EQ(only(report, "host-sync").details.at("region"), "decode step");
  EXPECT_EQ(only(report, "host-sync").blocked_us, 12.0);
}

TEST_F(EagerStep, WarmUpMayAllocateLoadAndWait) {
  const auto report = passes([&](int pass) {
    p.at("step.cpp", 21, "step");
    if (pass == 0) {
      p.malloc(1024);
      p.malloc_host(64);
      p.call(Family::module_load, "cuModuleLoadData");
    }
    p.launch(kStream);
  });
  EXPECT_EQ(faults(report), Faults{}) << text(report);
}

TEST_F(EagerStep, AWaitOfTheFirstPassAloneIsANote) {
  const auto report = passes([&](int pass) {
    p.at("step.cpp", 21, "step");
    if (pass == 0) p.sync(kStream);
  });
  EXPECT_EQ(faults(report), Faults{"note host-sync step.cpp:21 step"}) << text(report);
  EXPECT_EQ(report.violations[0].phase, Phase::warmup);
  EXPECT_EQ(report.verdict, Verdict::pass);
}

TEST_F(EagerStep, OnePassOnlyProvesNothingButItsFaults) {
  EXPECT_EQ(passes([&](int) { p.launch(kStream); }, 1).verdict, Verdict::inconclusive);
}

TEST_F(EagerStep, AllocationOfALaterPassIsAnError) {
  const auto report = passes([&](int pass) {
    p.at("step.cpp", 21, "step");
    if (pass == 2) p.malloc(1024);
  });
  EXPECT_EQ(faults(report), Faults{"error device-alloc step.cpp:21 step"});
}

TEST_F(EagerStep, AWorkspaceThatALibraryMakesOnceIsANote) {
  const auto report = passes([&](int pass) {
    p.in_library("libcublas.so.13", "cublasCreate_v2", "step.cpp", 21, "step");
    if (pass == 1) p.malloc(1024);
  });
  EXPECT_EQ(faults(report), Faults{"note device-alloc step.cpp:21 step"}) << text(report);
}

TEST_F(EagerStep, FrameworkAllocatorsAreSilent) {
  const auto report = passes([&](int) {
    p.in_python("model.py", 30, "forward", "libc10_cuda.so", "c10::cuda::CUDACachingAllocator::malloc");
    p.malloc(1 << 20);
    p.event_query(7);
    p.free();
  });
  EXPECT_EQ(faults(report), Faults{}) << text(report);
}

// The user's own query goes through the same library as the allocator's.
TEST_F(EagerStep, AQueryThroughTheFrameworkIsTheUsers) {
  const auto report = passes([&](int) {
    p.in_python("model.py", 30, "forward", "libc10_cuda.so", "c10::cuda::CUDAStream::query() const");
    p.query(kStream);
    p.in_python("model.py", 31, "forward", "libtorch_python.so", "THCPEvent_query(_object*, _object*)");
    p.event_query(7);
    p.in_python("model.py", 32, "forward", "libtorch_cuda.so",
                "at::CachingHostAllocatorImpl<c10::cuda::CUDAStream>::process_events()");
    p.event_query(8);
  });
  EXPECT_EQ(faults(report),
            (Faults{"error host-poll model.py:30 forward", "error host-poll model.py:31 forward"}))
      << text(report);
}

TEST_F(EagerStep, AStepCountedInItsNameIsOneStep) {
  for (int pass = 7; pass < 10; ++pass) {
    p.push("decode " + std::to_string(pass));
    p.at("step.cpp", 21, "step");
    p.malloc(64);
    p.pop();
  }
  p.end();
  const auto report = trace.report();
  // The first of them is the warm-up.
  const auto fault = only(report, "device-alloc");
  EXPECT_EQ(fault.count, 2);
  EXPECT_EQ(fault.details.at("region"), "decode #");
  ASSERT_EQ(report.coverage.regions.size(), 1u);
  EXPECT_EQ(report.coverage.regions[0].occurrences, 3u);
  EXPECT_EQ(report.coverage.kind, reports::CoverageKind::eager);
}

TEST_F(EagerStep, NumbersThatDoNotCountAreDifferentSteps) {
  const auto regions = [&](const std::vector<std::string>& names) {
    TraceBuilder run;
    run.regions = {"decode*"};
    ProcessBuilder& b = run.process();
    for (const auto& name : names) {
      b.push(name);
      b.at("step.cpp", 21, "step");
      b.malloc(64);  // every one's own warm-up
      b.pop();
    }
    b.end();
    return run.report().coverage.regions.size();
  };
  EXPECT_EQ(regions({"decode bs=1", "decode bs=2", "decode bs=4"}), 3u);
  EXPECT_EQ(regions({"decode layer 0", "decode layer 1", "decode layer 0", "decode layer 1"}), 2u);
  EXPECT_EQ(regions({"decode bs=8", "decode bs=8"}), 1u);
  EXPECT_EQ(regions({"decode 8 of 99", "decode 9 of 99", "decode 10 of 99"}), 1u);
}

TEST_F(EagerStep, PinnedNonBlockingIsSilentAndPageableIsNot) {
  const auto report = passes([&](int) {
    p.in_python("model.py", 30, "forward");
    p.copy_async(kStream, Memory::device, Memory::pinned, 64);
    p.in_python("model.py", 31, "forward");
    p.copy_async(kStream, Memory::device, Memory::pageable, 64, HostPlace::heap);
  });
  EXPECT_EQ(faults(report), Faults{"error pageable-copy model.py:31 forward"}) << text(report);
}

TEST_F(EagerStep, AnEagerBreakMakesWaitsNotes) {
  const auto report = passes([&](int) {
    p.at("step.cpp", 21, "step");
    p.mark(trace::MarkOp::break_begin, "attention");
    p.sync(kStream);
    p.mark(trace::MarkOp::break_end);
  });
  EXPECT_EQ(faults(report), Faults{"note host-sync step.cpp:21 step"});
}

TEST_F(EagerStep, OutsideTheRegionAllIsSilent) {
  p.at("load.cpp", 5, "load_weights");
  for (int i = 0; i < 50; ++i)
    p.copy(Memory::device, Memory::pageable, 1 << 20), p.malloc(4096), p.device_sync();
  const auto report = passes([&](int) { p.launch(kStream); });
  EXPECT_EQ(faults(report), Faults{});
}

TEST_F(EagerStep, ARegionThatNobodyAskedForIsNone) {
  trace.regions = {"prefill"};
  const auto report = passes([&](int) {
    p.at("step.cpp", 21, "step");
    p.sync(kStream);
  });
  EXPECT_EQ(faults(report), Faults{});
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
}

TEST_F(EagerStep, DomainsAreNamedByTheirPattern) {
  trace.regions = {"engine@decode*"};
  for (int pass = 0; pass < 2; ++pass) {
    p.push("decode step", trace::RegionSource::nvtx, "engine");
    p.at("step.cpp", 21, "step");
    p.sync(kStream);
    p.pop();
  }
  p.end();
  EXPECT_EQ(faults(trace.report()), Faults{"error host-sync step.cpp:21 step"});
}

TEST_F(EagerStep, CapgateHeaderRegionsNeedNoPattern) {
  trace.regions.clear();
  for (int pass = 0; pass < 2; ++pass) {
    p.push("step", trace::RegionSource::capgate_h);
    p.at("step.cpp", 21, "step");
    p.sync(kStream);
    p.pop();
  }
  p.end();
  EXPECT_EQ(faults(trace.report()), Faults{"error host-sync step.cpp:21 step"});
}

TEST_F(EagerStep, OtherThreadsAreNotInTheRegion) {
  const auto report = passes([&](int) {
    p.thread(200);
    p.at("io.cpp", 5, "writer");
    p.sync(kSide);
    p.thread(100);
  });
  EXPECT_EQ(faults(report), Faults{});
}

TEST_F(EagerStep, EntryOfTorchCudaGraphInARegionIsSilent) {
  const auto report = passes([&](int pass) {
    p.in_python("model.py", 40, "capture");
    p.device_sync();
    p.free();
    p.healthy_capture(kStream, kGraph + static_cast<uint64_t>(pass), kExec + static_cast<uint64_t>(pass));
    p.replay(kExec + static_cast<uint64_t>(pass));
  });
  EXPECT_EQ(faults(report), Faults{}) << text(report);
  EXPECT_EQ(report.coverage.captures_completed, 3u);
}

TEST_F(EagerStep, ACaptureInANestedRegionCountsForTheOuterOneToo) {
  const auto report = passes([&](int) {
    p.in_python("model.py", 40, "capture");
    p.device_sync();
    p.push("decode inner");
    p.healthy_capture();
    p.pop();
    p.replay();
  });
  EXPECT_EQ(faults(report), Faults{}) << text(report);
}

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

// The first table of what healthy programs do, as far as it happens in or around a capture.
class Healthy : public testing::Test {
 protected:
  TraceBuilder trace;
  ProcessBuilder& p = trace.process();

  void capture_around(void (*inside)(ProcessBuilder&), uint64_t mode = 0) {
    p.in_python("layer.py", 10, "capture");
    p.device_sync();
    p.call(Family::free_device, "cudaFree");
    p.call(Family::free_host, "cudaFreeHost");
    p.begin_capture(kStream, mode);
    p.launch(kStream);
    inside(p);
    p.in_python("layer.py", 20, "capture");
    p.end_capture();
    p.instantiate();
    p.replay();
    p.end();
  }
  void silent() {
    const auto report = trace.report();
    EXPECT_EQ(faults(report), Faults{}) << text(report);
    EXPECT_EQ(report.verdict, Verdict::pass) << text(report);
  }
};

TEST_F(Healthy, CachingAllocatorInRelaxedMode) {
  capture_around([](ProcessBuilder& b) {
    b.thread_mode(2);
    b.in_python("layer.py", 15, "forward", "libc10_cuda.so", "c10::cuda::CUDACachingAllocator::raw_alloc");
    b.malloc(2 << 20);
    b.call(Family::vmm, "cuMemMap");
    b.in_python("layer.py", 15, "forward", "libtorch_cuda.so", "at::cuda::CachingHostAllocator");
    b.malloc_host(64);
    b.event_query(7);
    b.thread_mode(0);
  });
  silent();
}

TEST_F(Healthy, ExpandableSegments) {
  capture_around([](ProcessBuilder& b) {
    b.thread_mode(2);
    b.in_python("layer.py", 15, "forward", "libc10_cuda.so",
                "c10::cuda::CUDACachingAllocator::Native::(anonymous namespace)::ExpandableSegment::map");
    b.call(Family::vmm, "cuMemAddressReserve");
    b.call(Family::alloc_device, "cuMemCreate",
           800);  // a handle type that the system refuses: it takes another
    b.call(Family::alloc_device, "cuMemCreate");
    b.call(Family::vmm, "cuMemMap");
    b.call(Family::vmm, "cuMemSetAccess");
    b.thread_mode(0);
  });
  silent();
}

TEST_F(Healthy, MallocAsyncBackend) {
  capture_around([](ProcessBuilder& b) {
    constexpr uint64_t kPool = 0x7f0000000000, kDeviceToDevice = 3;
    b.malloc_async(kStream, kPool, 4096);
    auto& copy = b.copy_async(kStream, Memory::device, Memory::pageable, 4096, HostPlace::mapping);
    copy.src = kPool;
    copy.arg = kDeviceToDevice;
  });
  silent();
}

TEST_F(Healthy, NcclPlansInRelaxedMode) {
  capture_around([](ProcessBuilder& b) {
    constexpr uint64_t kNccl = 0x4000;
    b.thread_mode(2);
    b.in_library("libnccl.so.2", "ncclLaunchPrepare", "layer.cpp", 15, "all_reduce");
    b.on_stream(Family::alloc_async, "cudaMallocAsync", kNccl);
    b.copy_async(kNccl, Memory::device, Memory::pageable, 512, HostPlace::heap);
    b.record(77, kNccl);
    b.thread_mode(0);
  });
  silent();
}

TEST_F(Healthy, NcclHostNodeIsOneNote) {
  capture_around([](ProcessBuilder& b) {
    for (int line : {15, 16}) {
      b.in_library("libnccl.so.2", "ncclLaunchFinish", "layer.cpp", line, "all_reduce");
      b.on_stream(Family::host_func, "cudaLaunchHostFunc", kStream);
    }
  });
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"note host-node layer.cpp:15 all_reduce"}) << text(report);
}

TEST_F(Healthy, OtherThreadsOwnAndLegacyWork) {
  capture_around([](ProcessBuilder& b) {
    b.thread(300);
    b.at("telemetry.cpp", 5, "sample");
    b.launch(kSide);
    b.launch(0);
    b.copy(Memory::pageable, Memory::device, 4);
    b.launch(0x5000).stream_device = 1;
    b.thread(100);
  });
  silent();
}

TEST_F(Healthy, CublasWorkspaceAcceptedInTheCaptureIsANote) {
  capture_around(
      [](ProcessBuilder& b) {
        b.in_library("libcublas.so.13", "cublasGemmEx", "layer.cpp", 15, "gemm");
        b.malloc(32 << 20);
      },
      2);
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"note device-alloc layer.cpp:15 gemm"}) << text(report);
  EXPECT_EQ(report.verdict, Verdict::pass);
}

TEST_F(Healthy, FiftyOneBucketsAtStart) {
  for (uint64_t bucket = 0; bucket < 51; ++bucket) {
    p.in_python("runner.py", 100, "capture_model");
    p.device_sync();
    p.healthy_capture(kStream, kGraph + bucket, kExec + bucket);
  }
  p.replay(kExec);
  p.end();
  silent();
  // Nothing is particular to this run: what no run looks at is listed, and that alone.
  const auto report = trace.report();
  EXPECT_EQ(report.coverage.not_checked, reports::never_looked_at(report));
  EXPECT_EQ(report.coverage.sources_run, (std::vector<std::string>{"run.py", "runner.py"}));
}

// Loading weights, then an eager fallback after a capture that failed: one error, and it says what became of
// it.
TEST_F(Healthy, ACaptureThatFailedAndAProgramThatWentEager) {
  p.at("load.cpp", 5, "load_weights");
  for (int i = 0; i < 100; ++i) {
    p.copy(Memory::device, Memory::pageable, 1 << 20);
    p.copy_async(kStream, Memory::device, Memory::pageable, 1 << 20, HostPlace::heap);
  }
  p.at("runner.cpp", 10, "capture");
  p.begin_capture();
  p.call(Family::other, "cudaSomethingNew", 900);
  p.end_capture(kStream, 0, 901);
  p.at("runner.cpp", 30, "decode");
  for (int step = 0; step < 10; ++step) {
    p.launch(0);
    p.sync(0);
  }
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error capture-invalidated runner.cpp:10 capture"}) << text(report);
  EXPECT_EQ(only(report, "capture-invalidated").message.find("went eager"), std::string::npos);
}

TEST_F(Healthy, CapturedAndDiscardedGraphs) {
  for (int i = 0; i < 3; ++i) {
    p.in_python("profile.py", 10, "profile");
    p.begin_capture();
    p.launch(kStream);
    p.end_capture();
  }
  p.end();
  silent();
}

}  // namespace
}  // namespace capgate::test
