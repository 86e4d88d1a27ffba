// Faults inside a capture window: what CUDA refuses, and what it accepts and drops.
#include "detector/analysis/results.h"
#include "tests/unit/analysis/expect.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {
namespace {

using analysis::kCaptureInvalidated;
using reports::Verdict;
using Faults = std::vector<std::string>;

class Window : public testing::Test {
 protected:
  TraceBuilder trace;
  ProcessBuilder& p = trace.process();

  void begin(uint64_t mode = 0) {
    p.at("step.cpp", 10, "capture");
    p.begin_capture(kStream, mode);
    p.at("step.cpp", 11, "capture");
    p.launch(kStream);
  }
  // A capture that CUDA killed on the way.
  void end_dead() {
    p.at("step.cpp", 90, "capture");
    p.launch(kStream).result = kCaptureInvalidated;
    p.end_capture(kStream, 0, kCaptureInvalidated);
    p.end();
  }
  // A capture that CUDA let pass, launched afterwards.
  void end_alive(uint64_t nodes = 1) {
    p.at("step.cpp", 90, "capture");
    p.end_capture(kStream, nodes);
    p.instantiate();
    p.replay();
    p.end();
  }
  void fault_line() { p.at("step.cpp", 50, "route"); }

  reports::Report expect(const std::string& severity_and_rule) {
    auto report = trace.report();
    EXPECT_EQ(faults(report), Faults{severity_and_rule + " step.cpp:50 route"}) << text(report);
    EXPECT_EQ(report.verdict, severity_and_rule.starts_with("error") ? Verdict::fail : Verdict::pass)
        << text(report);
    return report;
  }
};

TEST_F(Window, HealthyCaptureIsSilent) {
  begin();
  end_alive();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{}) << text(report);
  EXPECT_EQ(report.verdict, Verdict::pass);
  EXPECT_EQ(report.coverage.kind, reports::CoverageKind::capture);
  EXPECT_EQ(report.coverage.replays, 1u);
}

TEST_F(Window, StreamSyncKillsAndItsConsequencesAreNotFaults) {
  p.mark(trace::MarkOp::bucket_push, "decode bs=8");
  begin();
  fault_line();
  p.sync(kStream, analysis::kCaptureUnsupported);
  end_dead();
  const auto report = expect("error host-sync");
  EXPECT_TRUE(report.violations[0].message.starts_with("killed capture \"decode bs=8\"")) << text(report);
  EXPECT_EQ(report.captures.at(0).result, "failed:cudaErrorStreamCaptureInvalidated (901)");
  EXPECT_EQ(report.coverage.captures_failed, 1u);
}

TEST_F(Window, EveryWaitAndPollThatIsRefused) {
  struct Case {
    const char* rule;
    void (*make)(ProcessBuilder&);
  };
  const Case cases[] = {
      {"error host-sync", [](ProcessBuilder& b) { b.device_sync(analysis::kCaptureUnsupported); }},
      {"error host-sync", [](ProcessBuilder& b) { b.event_sync(7, analysis::kCapturedEvent); }},
      {"error host-poll", [](ProcessBuilder& b) { b.query(kStream, analysis::kCaptureUnsupported); }},
      {"error host-poll", [](ProcessBuilder& b) { b.event_query(7, analysis::kCapturedEvent); }},
      {"error device-alloc", [](ProcessBuilder& b) { b.malloc(1024, analysis::kCaptureUnsupported); }},
      {"error device-alloc", [](ProcessBuilder& b) { b.free(analysis::kCaptureUnsupported); }},
      {"error host-alloc", [](ProcessBuilder& b) { b.malloc_host(1024, analysis::kCaptureUnsupported); }},
      {"error host-alloc",
       [](ProcessBuilder& b) {
         b.call(Family::host_register, "cudaHostRegister", analysis::kCaptureUnsupported);
       }},
      {"error lazy-load",
       [](ProcessBuilder& b) {
         b.call(Family::module_load, "cuModuleLoadData", analysis::kCaptureUnsupported);
       }},
      {"error sync-copy",
       [](ProcessBuilder& b) { b.copy(Memory::pageable, Memory::device, 4, analysis::kCaptureImplicit); }},
      {"error default-stream", [](ProcessBuilder& b) { b.launch(0).result = analysis::kCaptureImplicit; }},
      {"error nested-launch",
       [](ProcessBuilder& b) { b.replay(0x77).result = analysis::kCaptureUnsupported; }},
      {"error foreign-event", [](ProcessBuilder& b) { b.wait(kStream, 7, 905); }},
      {"error capture-merge", [](ProcessBuilder& b) { b.wait(kStream, 7, 902); }},
      {"error capture-invalidated",
       [](ProcessBuilder& b) { b.call(Family::other, "cudaFancyNewCall", analysis::kCaptureUnsupported); }},
  };
  for (const auto& test_case : cases) {
    SCOPED_TRACE(test_case.rule);
    TraceBuilder own;
    ProcessBuilder& b = own.process();
    b.at("step.cpp", 10, "capture");
    b.begin_capture();
    b.launch(kStream);
    b.at("step.cpp", 50, "route");
    test_case.make(b);
    b.at("step.cpp", 90, "capture");
    b.launch(kStream).result = kCaptureInvalidated;
    b.end_capture(kStream, 0, kCaptureInvalidated);
    b.end();
    const auto report = own.report();
    EXPECT_EQ(faults(report), Faults{std::string(test_case.rule) + " step.cpp:50 route"}) << text(report);
    EXPECT_EQ(report.verdict, Verdict::fail);
    EXPECT_EQ(report.violations.at(0).message.rfind("killed capture", 0), 0u) << text(report);
  }
}

TEST_F(Window, WhatCudaAcceptsAndDrops) {
  struct Case {
    const char* rule;
    void (*make)(ProcessBuilder&);
  };
  const Case cases[] = {
      {"error sync-copy", [](ProcessBuilder& b) { b.copy(Memory::pageable, Memory::device, 4); }},
      {"error sync-copy", [](ProcessBuilder& b) { b.copy(Memory::device, Memory::device, 4); }},
      {"error sync-copy", [](ProcessBuilder& b) { b.set(64); }},
      {"error default-stream", [](ProcessBuilder& b) { b.launch(0); }},
      {"error default-stream",
       [](ProcessBuilder& b) { b.copy_async(0, Memory::device, Memory::pageable, 64); }},
      {"error escaped-work", [](ProcessBuilder& b) { b.launch(kSide); }},
      {"error escaped-work",
       [](ProcessBuilder& b) { b.copy_async(kSide, Memory::device, Memory::pinned, 64); }},
      {"error wrong-device", [](ProcessBuilder& b) { b.launch(kSide).stream_device = 1; }},
      {"error pageable-copy",
       [](ProcessBuilder& b) {
         b.copy_async(kStream, Memory::device, Memory::pageable, 4096, HostPlace::stack);
       }},
      {"error pageable-copy",
       [](ProcessBuilder& b) {
         b.copy_async(kStream, Memory::pageable, Memory::device, 4096, HostPlace::heap);
       }},
      {"warning host-node",
       [](ProcessBuilder& b) { b.on_stream(Family::host_func, "cudaLaunchHostFunc", kStream); }},
  };
  for (const auto& test_case : cases) {
    SCOPED_TRACE(test_case.rule);
    TraceBuilder own;
    ProcessBuilder& b = own.process();
    b.at("step.cpp", 10, "capture");
    b.begin_capture();
    b.launch(kStream);
    b.at("step.cpp", 50, "route");
    test_case.make(b);
    b.at("step.cpp", 90, "capture");
    b.end_capture();
    b.instantiate();
    b.replay();
    b.end();
    const auto report = own.report();
    EXPECT_EQ(faults(report), Faults{std::string(test_case.rule) + " step.cpp:50 route"}) << text(report);
  }
}

TEST_F(Window, PageableCopySaysWhatReplaysWillDo) {
  begin();
  fault_line();
  p.copy_async(kStream, Memory::device, Memory::pageable, 4096, HostPlace::stack);
  end_alive(2);
  const auto report = expect("error pageable-copy");
  EXPECT_EQ(report.violations[0].message,
            "copies 4096 bytes from stack memory that every replay will read again");
  EXPECT_EQ(report.violations[0].bytes, 4096u);
}

TEST_F(Window, LegalCallsAreSilent) {
  begin();
  fault_line();
  p.copy_async(kStream, Memory::device, Memory::pinned, 64);
  p.copy_async(kStream, Memory::device, Memory::device, 64);
  p.on_stream(Family::memset_async, "cudaMemsetAsync", kStream);
  p.on_stream(Family::alloc_async, "cudaMallocAsync", kStream);
  p.call(Family::event_create, "cudaEventCreate");
  p.call(Family::stream_create, "cudaStreamCreateWithFlags");
  p.call(Family::query, "cudaPointerGetAttributes");
  p.call(Family::func_attribute, "cudaFuncSetAttribute");
  p.on_stream(Family::capture_info, "cudaStreamIsCapturing", 0, analysis::kCaptureImplicit);
  p.record(7, kStream);
  p.wait(kSide, 7);
  p.launch(kSide);
  p.record(8, kSide);
  p.wait(kStream, 8);
  end_alive(5);
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{}) << text(report);
}

TEST_F(Window, NestedCallsCountOnce) {
  begin();
  fault_line();
  p.sync(kStream, analysis::kCaptureUnsupported);
  p.on_stream(Family::stream_sync, "cuStreamSynchronize", kStream, analysis::kCaptureUnsupported).flags |=
      trace::kNested;
  end_dead();
  EXPECT_EQ(expect("error host-sync").violations[0].count, 1u);
}

TEST_F(Window, NeverLaunchedGivesNotesAtMost) {
  begin();
  fault_line();
  p.launch(0);
  p.at("step.cpp", 90, "capture");
  p.end_capture();
  p.end();
  expect("note default-stream");
}

TEST_F(Window, RelaxedAllocationByTheUserIsAWarning) {
  begin(2);
  fault_line();
  p.malloc(1024);
  end_alive();
  expect("warning device-alloc");
}

// The push and pop of the thread's mode: a pool that grows while a capture is open, on purpose.
TEST_F(Window, AllocationsUnderAnExchangedModeAreOneNote) {
  begin();
  p.thread_mode(2);
  fault_line();
  p.malloc(1024);
  p.at("step.cpp", 51, "route");
  p.malloc(2048);
  p.thread_mode(0);
  end_alive();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"note device-alloc step.cpp:50 route"}) << text(report);
  EXPECT_EQ(only(report, "device-alloc").count, 1);
  EXPECT_EQ(report.verdict, Verdict::pass);
}

TEST_F(Window, AWaitUnderAnExchangedModeIsANote) {
  begin();
  p.thread_mode(2);
  fault_line();
  p.sync(kSide);
  p.thread_mode(0);
  end_alive();
  expect("note host-sync");
}

// An exchanged mode does not help against a refusal.
TEST_F(Window, ARefusalUnderAnExchangedModeIsAnError) {
  begin();
  p.thread_mode(2);
  fault_line();
  p.sync(kStream, analysis::kCaptureUnsupported);
  end_dead();
  expect("error host-sync");
}

TEST_F(Window, ItemIsOneFault) {
  begin();
  p.in_python("model/moe.py", 212, "route");
  p.copy_async(kStream, Memory::pageable, Memory::device, 4, HostPlace::stack);
  p.sync(kStream, analysis::kCaptureUnsupported);
  end_dead();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error host-sync model/moe.py:212 route"}) << text(report);
  EXPECT_EQ(report.violations[0].details.at("copy"), "4 bytes from the device (cudaMemcpyAsync)");
}

TEST_F(Window, ALaterIndependentFaultIsStillNamed) {
  begin();
  fault_line();
  p.sync(kStream, analysis::kCaptureUnsupported);
  p.at("step.cpp", 60, "route");
  p.malloc(64, analysis::kCaptureUnsupported);
  end_dead();
  const auto report = trace.report();
  EXPECT_EQ(faults(report),
            (Faults{"error device-alloc step.cpp:60 route", "error host-sync step.cpp:50 route"}));
}

TEST_F(Window, EmptyGraphWhoseWorkWentElsewhereIsOneFault) {
  p.at("step.cpp", 10, "capture");
  p.begin_capture();
  fault_line();
  p.launch(kSide);
  p.at("step.cpp", 51, "route");
  p.launch(kSide);
  end_alive(0);
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error empty-graph step.cpp:50 route"}) << text(report);
  EXPECT_EQ(report.coverage.captures_empty, 1u);
}

TEST_F(Window, EmptyGraphOnTheLegacyStreamIsDefaultStream) {
  p.at("step.cpp", 10, "capture");
  p.begin_capture();
  fault_line();
  p.launch(0);
  end_alive(0);
  EXPECT_EQ(faults(trace.report()), Faults{"error default-stream step.cpp:50 route"});
}

TEST_F(Window, EmptyGraphWithoutWorkIsANote) {
  p.at("step.cpp", 10, "capture");
  p.begin_capture();
  p.at("step.cpp", 50, "route");
  p.end_capture(kStream, 0);
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"note empty-graph step.cpp:50 route"}) << text(report);
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
}

TEST_F(Window, TheEmptyGraphOfAPoolThatTheLibraryMakesIsSilent) {
  const std::vector<std::pair<std::string, std::string>> ends = {{"torch/cuda/graphs.py", "capture_end"},
                                                                 {"torch/cuda/graphs.py", "__exit__"}};
  const auto faults_in = [&](const std::string& file, bool launched) {
    TraceBuilder run;
    ProcessBuilder& q = run.process();
    auto frames = ends;
    frames.emplace_back(file, "__init__");
    frames.emplace_back("serve.py", "step");
    q.in_frames(frames);
    q.begin_capture();
    q.end_capture(kStream, 0);
    q.instantiate();
    if (launched) q.replay();
    q.end();
    return faults(run.report());
  };
  const std::string pool = "torch/_inductor/cudagraph_trees.py";
  EXPECT_EQ(faults_in(pool, false), Faults{});
  EXPECT_EQ(faults_in(pool, true), Faults{"note empty-graph serve.py:1 step"});
  EXPECT_EQ(faults_in("engine/pool.py", false), Faults{"note empty-graph engine/pool.py:1 __init__"});
}

TEST_F(Window, ALineInSeveralCapturesIsCountedInAllOfThem) {
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

TEST_F(Window, EveryCaptureThatALineKilledIsCounted) {
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

TEST_F(Window, UnjoinedStreamNamesTheFork) {
  begin();
  p.record(7, kStream);
  fault_line();
  p.wait(kSide, 7);
  p.at("step.cpp", 60, "side");
  p.launch(kSide);
  p.at("step.cpp", 90, "capture");
  p.end_capture(kStream, 0, 904);
  p.end();
  const auto report = expect("error unjoined-stream");
  EXPECT_NE(report.violations[0].message.find("never joined"), std::string::npos);
  EXPECT_EQ(report.violations[0].details.at("consequence"), "killed capture 1 of s1");
}

TEST_F(Window, WorkAfterTheJoinIsUnjoined) {
  begin();
  p.record(7, kStream);
  fault_line();
  p.wait(kSide, 7);
  p.record(8, kSide);
  p.wait(kStream, 8);
  p.launch(kSide);
  p.at("step.cpp", 90, "capture");
  p.end_capture(kStream, 0, 904);
  p.end();
  expect("error unjoined-stream");
}

TEST_F(Window, OnlyTheStreamThatIsNotJoinedIsNamed) {
  constexpr uint64_t kThird = 0x3000;
  begin();
  p.record(7, kStream);
  p.at("step.cpp", 40, "joined");
  p.wait(kThird, 7);
  p.launch(kThird);
  p.record(8, kThird);
  p.wait(kStream, 8);
  fault_line();
  p.wait(kSide, 7);
  p.launch(kSide);
  p.at("step.cpp", 90, "capture");
  p.end_capture(kStream, 0, 904);
  p.end();
  expect("error unjoined-stream");
}

TEST_F(Window, ForeignEventShowsWhereItWasRecorded) {
  p.at("warm.cpp", 5, "prefetch");
  p.record(7, kSide);
  begin();
  fault_line();
  p.wait(kStream, 7, 905);
  end_dead();
  const auto report = expect("error foreign-event");
  EXPECT_EQ(report.violations[0].details.at("recorded at"), "warm.cpp:5");
}

TEST_F(Window, RetryAtTheSameSiteMakesItANote) {
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
TEST_F(Window, ACaptureOfAnotherStepThroughTheSameWrapperIsNoRetry) {
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

TEST_F(Window, MoreThanAFewFailuresAreNoFirstAttempt) {
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
TEST_F(Window, AParallelCaptureOfTheSameSiteIsNoRetry) {
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

TEST_F(Window, ACaptureThatFailsBetweenReplaysOfItsSiteStaysAnError) {
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

TEST_F(Window, ScopedAllowSuppresses) {
  begin();
  fault_line();
  p.mark(trace::MarkOp::allow_begin, "host-sync", "a test that expects it");
  p.sync(kStream, analysis::kCaptureUnsupported);
  p.mark(trace::MarkOp::allow_end);
  end_dead();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error host-sync step.cpp:50 route (suppressed)"}) << text(report);
  EXPECT_EQ(report.violations[0].suppressed->origin, "capgate_allow");
  EXPECT_EQ(report.violations[0].suppressed->reason, "a test that expects it");
}

TEST_F(Window, AnotherThreadsMallocKillsAGlobalCapture) {
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

TEST_F(Window, AnotherThreadThatBrokeNothingGivesOneNote) {
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

TEST_F(Window, AnotherThreadWithItsModeExchangedIsSilent) {
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

TEST_F(Window, AnotherThreadIsSilentForAThreadLocalCapture) {
  begin(1);
  p.thread(200);
  p.malloc(64);
  p.event_query(7);
  p.launch(kSide);
  p.thread(100);
  end_alive();
  EXPECT_EQ(faults(trace.report()), Faults{});
}

TEST_F(Window, AThreadThatWorksOnTheCaptureBelongsToIt) {
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

TEST_F(Window, TwoCapturesAtOnceAreToldApart) {
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

TEST_F(Window, NoKnownCulpritIsCaptureInvalidatedAtTheEnd) {
  begin();
  fault_line();
  p.end_capture(kStream, 0, kCaptureInvalidated);
  p.end();
  expect("error capture-invalidated");
}

TEST_F(Window, ACaptureThatCannotBegin) {
  fault_line();
  p.begin_capture(0, 0, analysis::kCaptureUnsupported);
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error capture-invalidated step.cpp:50 route"}) << text(report);
}

TEST_F(Window, AModuleIsLoadedWithANoteAndNotUnloaded) {
  begin();
  p.at("step.cpp", 49, "load");
  p.call(Family::module_load, "cuModuleLoadData");
  fault_line();
  p.call(Family::module_unload, "cuModuleUnload", analysis::kCaptureUnsupported);
  end_dead();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), (Faults{"error lazy-load step.cpp:50 route", "note lazy-load step.cpp:49 load"}))
      << text(report);
}

// What other lines load is none of the line that it names.
TEST_F(Window, LazyLoadInALaunchIsOneNote) {
  begin();
  fault_line();
  const uint64_t seq = p.launch(kStream, "cold").h.seq;
  p.object(trace::RecordType::module_load, trace::ObjectOp::loaded, 0x55, 0, seq);
  p.at("step.cpp", 51, "route");
  const uint64_t second = p.launch(kStream, "cold2").h.seq;
  p.object(trace::RecordType::module_load, trace::ObjectOp::loaded, 0x56, 0, second);
  end_alive(3);
  EXPECT_EQ(expect("note lazy-load").violations[0].count, 1u);
}

TEST_F(Window, NodesAndEdgesAreListed) {
  begin();
  const uint64_t second = p.launch(kStream, "_Z6secondPi").h.seq;
  p.at("step.cpp", 90, "capture");
  p.end_capture(kStream, 2);
  p.node(kGraph, 0x31, 0, second - 2, "first");
  p.node(kGraph, 0x32, 0, second, "_Z6secondPi");
  p.edge(kGraph, 0x31, 0x32);
  p.instantiate();
  p.replay();
  p.end();
  const auto report = trace.report();
  ASSERT_EQ(report.captures.size(), 1u);
  ASSERT_EQ(report.captures[0].nodes.size(), 2u);
  EXPECT_EQ(report.captures[0].nodes[1].name, "second");
  EXPECT_TRUE(report.captures[0].straight_line);
  EXPECT_EQ(report.captures[0].mode, "global");
  EXPECT_EQ(report.captures[0].replays, 1u);
}

}  // namespace
}  // namespace capgate::test
