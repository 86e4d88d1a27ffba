// Two devices: what of a step over both is a fault, and its clean twin, which is none.
#include "detector/analysis/results.h"
#include "tests/unit/analysis/expect.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {
namespace {

using reports::Verdict;
using Faults = std::vector<std::string>;

constexpr uint64_t kOnFirst = kStream, kOnSecond = kSide;  // a stream of each device
constexpr uint64_t kGraph2 = 0x9100, kExec2 = 0xa100;
constexpr uint64_t kFunction = 0x7000;

class Devices : public ::testing::Test {
 protected:
  // The call was made with device 1 current; on a stream of it, unless it is said to be the first's.
  static trace::CallRecord& on_second(trace::CallRecord& call) {
    call.device = 1;
    if (call.stream_device != trace::kNoDevice && call.stream == kOnSecond) call.stream_device = 1;
    return call;
  }
  // By the driver, which is given a function and not a symbol.
  trace::CallRecord& driver_launch(uint64_t stream, int32_t result, uint64_t function = kFunction) {
    auto& call = p.launch(stream);
    call.domain = 1;
    call.object = function;
    call.result = result;
    return call;
  }
  // The process works on device 1, too.
  void use_second() { on_second(p.on_stream(Family::stream_create, "cudaStreamCreate", kOnSecond)); }
  void begin() {
    p.at("step.cpp", 10, "capture");
    p.begin_capture(kOnFirst);
  }
  void finish(uint64_t nodes, bool launched = true) {
    p.at("step.cpp", 90, "capture");
    p.end_capture(kOnFirst, nodes);
    p.instantiate();
    if (launched) p.replay();
    p.end();
  }
  // Passes without a word of error or warning.
  void expect_clean() {
    const auto report = trace.report();
    EXPECT_EQ(report.verdict, Verdict::pass) << text(report);
    EXPECT_EQ(faults(report), Faults{}) << text(report);
  }

  // The launch is not in the graph, and its device is not what it was refused for.
  void expect_no_device() {
    EXPECT_EQ(faults(trace.report()), Faults{"error refused-call step.cpp:10 capture"})
        << text(trace.report());
  }

  TraceBuilder trace;
  ProcessBuilder& p = trace.process();
};

TEST_F(Devices, WorkSentToAnotherDevicesStreamIsNotInTheGraph) {
  begin();
  p.launch(kOnFirst);
  p.at("step.cpp", 50, "second_half");
  on_second(p.launch(kOnSecond));
  p.at("step.cpp", 51, "second_half");
  on_second(p.launch(0));
  p.at("step.cpp", 52, "second_half");
  on_second(p.copy_async(kOnSecond, Memory::device, Memory::device, 64));
  finish(1);
  const auto report = trace.report();
  EXPECT_EQ(faults(report), (Faults{"error wrong-device step.cpp:50 second_half",
                                    "error wrong-device step.cpp:51 second_half",
                                    "error wrong-device step.cpp:52 second_half"}))
      << text(report);
  EXPECT_EQ(report.violations.at(0).device, 1);
  EXPECT_EQ(report.violations.at(0).message,
            "the kernel decode_kernel went to device 1, and capture 1 of s1 is on device 0: it ran once and "
            "is not in "
            "the graph");
  EXPECT_EQ(report.captures.at(0).device, 0);
}

TEST_F(Devices, ForkedIntoTheCaptureAndJoinedItIsPartOfIt) {
  begin();
  p.launch(kOnFirst);
  p.record(1, kOnFirst);
  on_second(p.wait(kOnSecond, 1));
  on_second(p.launch(kOnSecond));
  on_second(p.copy_async(kOnSecond, Memory::device, Memory::device, 64));
  on_second(p.record(2, kOnSecond));
  p.wait(kOnFirst, 2);
  p.launch(kOnFirst);
  finish(4);
  expect_clean();
}

TEST_F(Devices, AForkToAnotherDeviceThatIsNotJoined) {
  begin();
  p.launch(kOnFirst);
  p.record(1, kOnFirst);
  p.at("step.cpp", 50, "second_half");
  on_second(p.wait(kOnSecond, 1));
  on_second(p.launch(kOnSecond));
  p.at("step.cpp", 90, "capture");
  p.end_capture(kOnFirst, 0, analysis::kCaptureUnjoined);
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error unjoined-stream step.cpp:50 second_half"}) << text(report);
}

TEST_F(Devices, AFunctionOfAnotherDeviceIsRefusedAndMissing) {
  for (const bool current_is_second : {true, false}) {
    SCOPED_TRACE(current_is_second);
    TraceBuilder own;
    ProcessBuilder& b = own.process();
    on_second(b.on_stream(Family::stream_create, "cudaStreamCreate", kOnSecond));
    b.at("step.cpp", 10, "capture");
    b.begin_capture(kOnFirst);
    b.launch(kOnFirst);
    b.at("step.cpp", 50, "second_half");
    auto& launch = b.launch(kOnFirst);
    launch.domain = 1;
    launch.object = kFunction;
    launch.result = analysis::kInvalidHandle;
    if (current_is_second) launch.device = 1;
    b.at("step.cpp", 90, "capture");
    b.end_capture(kOnFirst, 1);
    b.instantiate();
    b.replay();
    b.end();
    const auto report = own.report();
    EXPECT_EQ(faults(report), Faults{"error wrong-device step.cpp:50 second_half"}) << text(report);
    EXPECT_EQ(report.violations.at(0).message,
              "the kernel decode_kernel was refused with cudaErrorInvalidResourceHandle (400): its function "
              "is of another device than its stream, which is of device 0; it is not in the graph");
  }
}

TEST_F(Devices, AFunctionThatTheOtherDevicesStreamTookIsOfThatDevice) {
  on_second(p.begin_capture(kOnSecond));
  on_second(driver_launch(kOnSecond, 0));
  on_second(p.end_capture(kOnSecond, 1, 0, kGraph2));
  begin();
  p.launch(kOnFirst);
  p.at("step.cpp", 50, "second_half");
  driver_launch(kOnFirst, analysis::kInvalidHandle);
  finish(1);
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error wrong-device step.cpp:50 second_half"}) << text(report);
  EXPECT_EQ(
      report.violations.at(0).message,
      "the kernel decode_kernel was refused with cudaErrorInvalidResourceHandle (400): its function is of "
      "device 1, and its stream of device 0; it is not in the graph");
}

TEST_F(Devices, OnAForkedStreamTheForksDeviceCounts) {
  begin();
  p.launch(kOnFirst);
  p.record(1, kOnFirst);
  on_second(p.wait(kOnSecond, 1));
  on_second(p.launch(kOnSecond));
  p.at("step.cpp", 50, "second_half");
  driver_launch(kOnSecond, analysis::kInvalidHandle).stream_device = 1;
  on_second(p.record(2, kOnSecond));
  p.wait(kOnFirst, 2);
  finish(2);
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error wrong-device step.cpp:50 second_half"}) << text(report);
  EXPECT_NE(report.violations.at(0).message.find("of another device than its stream, which is of device 1"),
            std::string::npos)
      << text(report);
}

TEST_F(Devices, AndIsOneFaultWhenTheCaptureIsGivenUpForIt) {
  use_second();
  begin();
  p.launch(kOnFirst);
  p.record(1, kOnFirst);
  p.wait(kSide + 0x100, 1);
  p.launch(kSide + 0x100);
  p.at("step.cpp", 50, "second_half");
  driver_launch(kOnFirst, analysis::kInvalidHandle);
  p.at("step.cpp", 90, "capture");
  p.end_capture(kOnFirst, 0, analysis::kCaptureUnjoined);
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error wrong-device step.cpp:50 second_half"}) << text(report);
}

TEST_F(Devices, AnEventOfAnotherDeviceIsRefused) {
  on_second(p.record(7, kOnSecond));
  begin();
  p.launch(kOnFirst);
  p.at("step.cpp", 50, "order");
  p.record(7, kOnFirst, analysis::kInvalidHandle);
  finish(1);
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error wrong-device step.cpp:50 order"}) << text(report);
  EXPECT_EQ(
      report.violations.at(0).message,
      "an event record was refused with cudaErrorInvalidResourceHandle (400): its event is of device 1, "
      "and its stream of device 0; a wait for that event orders nothing");
}

TEST_F(Devices, AlsoOneThatWasNeverRecordedBefore) {
  use_second();
  begin();
  p.launch(kOnFirst);
  p.at("step.cpp", 50, "order");
  p.record(7, kOnFirst, analysis::kInvalidHandle);
  finish(1);
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error wrong-device step.cpp:50 order"}) << text(report);
  EXPECT_NE(report.violations.at(0).message.find(
                "its event is of another device than its stream, which is of device 0"),
            std::string::npos)
      << text(report);
}

// The stream waits for nothing then: one cause, and what is sent to it is a symptom.
TEST_F(Devices, WorkOfAForkThatWasRefusedFollowsFromTheRefusal) {
  constexpr uint64_t kForked = 0x7000;
  on_second(p.record(7, kOnSecond));
  begin();
  p.launch(kOnFirst);
  p.at("step.cpp", 50, "order");
  p.record(7, kOnFirst, analysis::kInvalidHandle);
  p.wait(kForked, 7);
  p.at("step.cpp", 51, "order");
  p.launch(kForked);
  finish(1);
  const auto report = trace.report();
  EXPECT_EQ(faults(report),
            (Faults{"error escaped-work step.cpp:51 order", "error wrong-device step.cpp:50 order"}))
      << text(report);
  const auto escaped = only(report, "escaped-work");
  EXPECT_EQ(escaped.symptom_of, only(report, "wrong-device").id);
  EXPECT_EQ(escaped.details.at("fork"), "refused");
  EXPECT_EQ(escaped.situation, "escaped-work.fork-refused");
  EXPECT_EQ(report.summary.errors, 1u);
}

TEST_F(Devices, ARefusalForAnotherReasonIsNotTheDevices) {
  use_second();
  begin();
  p.launch(kOnFirst);
  driver_launch(kOnFirst, 0);
  driver_launch(kOnFirst, analysis::kInvalidHandle);     // a function that this device's stream took before
  driver_launch(kOnFirst, analysis::kInvalidHandle, 0);  // no function at all
  driver_launch(kOnFirst, 1, kFunction + 1);             // an invalid value
  driver_launch(kOnFirst, analysis::kInvalidHandle, kFunction + 2).stream_device = trace::kNoDevice;
  auto& by_symbol = p.launch(kOnFirst);  // for the current device, and that is the stream's
  by_symbol.object = kFunction + 3;
  by_symbol.result = analysis::kInvalidHandle;
  p.record(1, kOnFirst);
  p.record(1, kOnFirst, analysis::kInvalidHandle);
  on_second(p.record(2, kOnSecond));
  p.call(Family::event_destroy, "cudaEventDestroy").object = 2;
  p.record(2, kOnFirst, analysis::kInvalidHandle);
  finish(2);
  expect_no_device();
}

// One that streams of both devices took is a kernel without a context.
TEST_F(Devices, NorOfAKernelThatBothDevicesTake) {
  begin();
  driver_launch(kOnFirst, 0);
  p.end_capture(kOnFirst, 1, 0, kGraph2);
  on_second(p.begin_capture(kOnSecond));
  on_second(driver_launch(kOnSecond, 0));
  on_second(p.end_capture(kOnSecond, 1, 0, kGraph2));
  begin();
  p.launch(kOnFirst);
  driver_launch(kOnFirst, analysis::kInvalidHandle);
  finish(1);
  expect_no_device();
}

TEST_F(Devices, NorOfAFunctionWhoseModuleMayBeGone) {
  use_second();
  p.call(Family::module_unload, "cuModuleUnload");
  begin();
  p.launch(kOnFirst);
  driver_launch(kOnFirst, analysis::kInvalidHandle);
  finish(1);
  expect_no_device();
}

TEST_F(Devices, AHandleThatIsGivenOutAgainIsOfTheNewModulesDevice) {
  begin();
  driver_launch(kOnFirst, 0);
  p.end_capture(kOnFirst, 1, 0, kGraph2);
  p.call(Family::module_unload, "cuModuleUnload");
  on_second(p.begin_capture(kOnSecond));
  on_second(driver_launch(kOnSecond, 0));
  on_second(p.end_capture(kOnSecond, 1, 0, kGraph2));
  begin();
  p.launch(kOnFirst);
  p.at("step.cpp", 50, "second_half");
  driver_launch(kOnFirst, analysis::kInvalidHandle);
  finish(1);
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error wrong-device step.cpp:50 second_half"}) << text(report);
}

TEST_F(Devices, NorWithASecondContextOnTheStreamsDevice) {
  use_second();
  p.call(Family::alloc_device, "cuMemAlloc").context = 0x5100;
  begin();
  p.launch(kOnFirst);
  driver_launch(kOnFirst, analysis::kInvalidHandle);
  p.record(7, kOnFirst, analysis::kInvalidHandle);
  finish(1);
  expect_no_device();
}

TEST_F(Devices, NorBeforeTheProcessWorksOnTheOtherDevice) {
  begin();
  p.launch(kOnFirst);
  driver_launch(kOnFirst, analysis::kInvalidHandle);
  p.record(7, kOnFirst, analysis::kInvalidHandle);
  finish(1);
  use_second();
  expect_no_device();
}

// Its first call that is recorded may come later than the event that was made on it.
TEST_F(Devices, AContextOnTheOtherDeviceIsEnough) {
  p.object(trace::RecordType::context, trace::ObjectOp::made, 0x5100, 0, 0);
  begin();
  p.launch(kOnFirst);
  p.at("step.cpp", 50, "order");
  p.record(7, kOnFirst, analysis::kInvalidHandle);
  finish(1);
  on_second(p.on_stream(Family::stream_create, "cudaStreamCreate", kOnSecond)).context = 0x5100;
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error wrong-device step.cpp:50 order"}) << text(report);
}

TEST_F(Devices, AnEventOfAnotherProcessIsOfTheDeviceThatItWasOpenedOn) {
  for (const bool on_other : {false, true}) {
    SCOPED_TRACE(on_other);
    TraceBuilder own;
    ProcessBuilder& b = own.process();
    on_second(b.on_stream(Family::stream_create, "cudaStreamCreate", kOnSecond));
    auto& opened = b.call(Family::peer, "cudaIpcOpenEventHandle");
    opened.out = 7;
    if (on_other) opened.device = 1;
    b.at("step.cpp", 10, "capture");
    b.begin_capture(kOnFirst);
    b.launch(kOnFirst);
    b.at("step.cpp", 50, "order");
    b.record(7, kOnFirst, analysis::kInvalidHandle);
    b.at("step.cpp", 90, "capture");
    b.end_capture(kOnFirst, 1);
    b.instantiate();
    b.replay();
    b.end();
    const auto report = own.report();
    EXPECT_EQ(faults(report), on_other ? Faults{"error wrong-device step.cpp:50 order"} : Faults{})
        << text(report);
  }
}

// What one process does on its device tells nothing of another's.
TEST_F(Devices, AnotherProcessOfTheRunMayWorkOnTheOtherDevice) {
  ProcessBuilder& worker = trace.process(101);
  on_second(worker.on_stream(Family::stream_create, "cudaStreamCreate", kOnSecond));
  worker.end();
  begin();
  p.launch(kOnFirst);
  driver_launch(kOnFirst, analysis::kInvalidHandle);
  finish(1);
  expect_no_device();
}

// Runtimes that look a kernel up for the current device.
TEST_F(Devices, ALaunchBySymbolThatIsRefusedUnderAnotherCurrentDevice) {
  begin();
  p.launch(kOnFirst);
  p.at("step.cpp", 50, "second_half");
  auto& launch = on_second(p.launch(kOnFirst));
  launch.object = kFunction;
  launch.result = analysis::kInvalidHandle;
  finish(1);
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error wrong-device step.cpp:50 second_half"}) << text(report);
  EXPECT_EQ(
      report.violations.at(0).message,
      "the kernel decode_kernel was refused with cudaErrorInvalidResourceHandle (400): its function is of "
      "device 1, and its stream of device 0; it is not in the graph");
}

TEST_F(Devices, NorIsOneInAProcessThatWorksOnOneDevice) {
  begin();
  p.launch(kOnFirst);
  driver_launch(kOnFirst, analysis::kInvalidHandle);
  p.record(1, kOnFirst, analysis::kInvalidHandle);
  finish(1);
  expect_no_device();
}

// A launch goes where its stream is, whichever device is current.
TEST_F(Devices, WorkForTheCapturedStreamUnderAnotherCurrentDeviceIsCaptured) {
  begin();
  p.launch(kOnFirst);
  on_second(p.launch(kOnFirst));
  on_second(driver_launch(kOnFirst, 0));
  on_second(p.copy_async(kOnFirst, Memory::device, Memory::device, 64));
  on_second(p.on_stream(Family::memset_async, "cudaMemsetAsync", kOnFirst)).bytes = 64;
  on_second(p.record(1, kOnFirst));
  finish(5);
  expect_clean();
}

TEST_F(Devices, TheCaptureMayBeginAndEndUnderAnotherCurrentDevice) {
  on_second(p.begin_capture(kOnFirst));
  p.launch(kOnFirst);
  on_second(p.end_capture(kOnFirst, 1));
  p.instantiate();
  p.replay();
  p.end();
  expect_clean();
  EXPECT_EQ(trace.report().captures.at(0).device, 0);
}

TEST_F(Devices, AWaitForTheOtherDeviceIsTakenAndInNoReplay) {
  begin();
  p.launch(kOnFirst);
  p.at("step.cpp", 50, "second_half");
  on_second(p.device_sync());
  finish(1);
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"warning host-sync step.cpp:50 second_half"}) << text(report);
  EXPECT_EQ(report.violations.at(0).message,
            "the host waits for all of device 1 while capture 1 of s1 is open");
}

TEST_F(Devices, WhatIsDoneAtOnceOnTheOtherDeviceIsInNoGraph) {
  begin();
  p.launch(kOnFirst);
  p.at("step.cpp", 50, "second_half");
  on_second(p.copy(Memory::device, Memory::device, 64));
  p.at("step.cpp", 51, "second_half");
  on_second(p.replay(kExec2, kOnSecond));
  finish(1);
  const auto report = trace.report();
  EXPECT_EQ(faults(report),
            (Faults{"error sync-copy step.cpp:50 second_half", "error wrong-device step.cpp:51 second_half"}))
      << text(report);
}

TEST_F(Devices, TwoCapturesJoinedAcrossTheDevices) {
  p.begin_capture(kOnFirst);
  on_second(p.begin_capture(kOnSecond));
  p.launch(kOnFirst);
  on_second(p.launch(kOnSecond));
  on_second(p.record(2, kOnSecond));
  p.at("step.cpp", 50, "join");
  p.wait(kOnFirst, 2, 902);
  p.at("step.cpp", 90, "capture");
  p.end_capture(kOnFirst, 0, analysis::kCaptureInvalidated);
  on_second(p.end_capture(kOnSecond, 0, analysis::kCaptureInvalidated));
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error capture-merge step.cpp:50 join"}) << text(report);
}

TEST_F(Devices, ACaptureThatReliesOnTheCurrentDeviceIsEmpty) {
  begin();
  p.in_python("model.py", 50, "forward");
  on_second(p.launch(0));
  p.in_python("model.py", 51, "forward");
  on_second(p.launch(0));
  finish(0);
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error empty-graph model.py:50 forward"}) << text(report);
  EXPECT_EQ(
      report.violations.at(0).message,
      "capture 1 of s1 is empty: the kernel decode_kernel and 1 more went to device 1 instead; the capture's "
      "stream is on device 0");
  EXPECT_EQ(report.violations.at(0).device, 1);
}

TEST_F(Devices, AndANoteWhileNobodyLaunchesIt) {
  begin();
  p.at("step.cpp", 50, "forward");
  on_second(p.launch(kOnSecond));
  finish(0, false);
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"note empty-graph step.cpp:50 forward"}) << text(report);
}

TEST_F(Devices, CapturedOnAStreamOfTheDeviceOfTheWork) {
  p.at("step.cpp", 10, "capture");
  on_second(p.begin_capture(kOnSecond));
  on_second(p.launch(kOnSecond));
  on_second(p.end_capture(kOnSecond, 1));
  p.instantiate();
  on_second(p.replay(kExec, kOnSecond));
  p.end();
  expect_clean();
  EXPECT_EQ(trace.report().captures.at(0).device, 1);
}

TEST_F(Devices, AReplayUnderAnotherCurrentDevice) {
  p.healthy_capture();
  for (int i = 0; i < 3; ++i) on_second(p.replay(kExec, kOnFirst));
  on_second(p.replay(kExec, kOnSecond));
  p.end();
  expect_clean();
}

TEST_F(Devices, APeerCopyThatCudaTakesIsCaptured) {
  begin();
  p.launch(kOnFirst);
  p.copy_async(kOnFirst, Memory::device, Memory::device, 4096).arg = 4;
  on_second(p.copy_async(kOnFirst, Memory::device, Memory::device, 4096)).arg = 4;
  finish(3);
  expect_clean();
}

TEST_F(Devices, APeerCopyThatCudaRefusesIsNamed) {
  begin();
  p.launch(kOnFirst);
  p.at("step.cpp", 50, "exchange");
  p.on_stream(Family::memcpy_async, "cudaMemcpyPeerAsync", kOnFirst, analysis::kCaptureUnsupported);
  p.at("step.cpp", 90, "capture");
  p.end_capture(kOnFirst, 0, analysis::kCaptureInvalidated);
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error capture-invalidated step.cpp:50 exchange"}) << text(report);
}

TEST_F(Devices, OneGraphADeviceJoinedByEventsBetweenTheLaunches) {
  p.healthy_capture(kOnFirst, kGraph, kExec);
  on_second(p.begin_capture(kOnSecond));
  on_second(p.launch(kOnSecond));
  on_second(p.end_capture(kOnSecond, 1, 0, kGraph2));
  p.instantiate(kExec2, kGraph2);
  for (uint64_t step = 0; step < 3; ++step) {
    p.replay(kExec, kOnFirst);
    p.record(1, kOnFirst);
    on_second(p.wait(kOnSecond, 1));
    on_second(p.replay(kExec2, kOnSecond));
    on_second(p.record(2, kOnSecond));
    p.wait(kOnFirst, 2);
  }
  p.end();
  expect_clean();
}

TEST_F(Devices, TheOtherGraphsEventWaitedForInsideTheCapture) {
  p.healthy_capture(kOnFirst, kGraph, kExec);
  p.replay(kExec, kOnFirst);
  p.at("step.cpp", 30, "first_half");
  p.record(1, kOnFirst);
  p.at("step.cpp", 40, "capture");
  on_second(p.begin_capture(kOnSecond));
  p.at("step.cpp", 50, "second_half");
  on_second(p.wait(kOnSecond, 1, analysis::kCaptureIsolation));
  p.at("step.cpp", 90, "capture");
  on_second(p.end_capture(kOnSecond, 0, analysis::kCaptureInvalidated));
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error foreign-event step.cpp:50 second_half"}) << text(report);
}

// Two captures at once, one a device, on one thread: the launches belong to their own.
TEST_F(Devices, CapturesOfBothDevicesAtOnce) {
  p.begin_capture(kOnFirst);
  on_second(p.begin_capture(kOnSecond));
  p.launch(kOnFirst);
  on_second(p.launch(kOnSecond));
  p.end_capture(kOnFirst, 1, 0, kGraph);
  on_second(p.end_capture(kOnSecond, 1, 0, kGraph2));
  p.instantiate(kExec, kGraph);
  p.instantiate(kExec2, kGraph2);
  p.replay(kExec, kOnFirst);
  on_second(p.replay(kExec2, kOnSecond));
  p.end();
  expect_clean();
}

}  // namespace
}  // namespace capgate::test
