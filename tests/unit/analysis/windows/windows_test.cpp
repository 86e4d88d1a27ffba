// Faults inside a capture window: what CUDA refuses, and what it accepts and drops.
#include "detector/analysis/results.h"
#include "tests/unit/analysis/windows/one_capture.h"

namespace capgate::test {
namespace {

using analysis::kCaptureInvalidated;
using reports::Verdict;
using Faults = std::vector<std::string>;

class Window : public OneCapture {};

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

TEST_F(Window, AWaitUnderAnExchangedModeIsANote) {
  begin();
  p.thread_mode(2);
  fault_line();
  p.sync(kSide);
  p.thread_mode(0);
  end_alive();
  expect("note host-sync");
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

// An exchanged mode does not help against a refusal.
TEST_F(Window, ARefusalUnderAnExchangedModeIsAnError) {
  begin();
  p.thread_mode(2);
  fault_line();
  p.sync(kStream, analysis::kCaptureUnsupported);
  end_dead();
  expect("error host-sync");
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

}  // namespace
}  // namespace capgate::test
