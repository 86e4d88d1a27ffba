// Marked eager steps: what of them a capture would refuse or leave out.
#include "tests/unit/analysis/expect.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {
namespace {

using reports::Phase;
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

}  // namespace
}  // namespace capgate::test
