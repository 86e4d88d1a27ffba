// Two devices: what of a step over both is a fault, and its clean twin, which is none.
#include "tests/unit/analysis/expect.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {
namespace {

using reports::Verdict;
using Faults = std::vector<std::string>;

constexpr int32_t kInvalidHandle = 400, kUnsupported = 900, kInvalidated = 901, kUnjoined = 904,
                  kIsolation = 905;
constexpr uint64_t kFirst = kStream, kSecond = kSide;  // a stream of each device
constexpr uint64_t kGraph2 = 0x9100, kExec2 = 0xa100;

class Devices : public ::testing::Test {
 protected:
  // The call was made with device 1 current; on a stream of it, unless it is said to be the first's.
  static trace::CallRecord& on_second(trace::CallRecord& call) {
    call.device = 1;
    if (call.stream_device != trace::kNoDevice && call.stream == kSecond) call.stream_device = 1;
    return call;
  }
  void begin() {
    p.at("step.cpp", 10, "capture");
    p.begin_capture(kFirst);
  }
  void finish(uint64_t nodes, bool launched = true) {
    p.at("step.cpp", 90, "capture");
    p.end_capture(kFirst, nodes);
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

  TraceBuilder trace;
  ProcessBuilder& p = trace.process();
};

TEST_F(Devices, WorkSentToAnotherDevicesStreamIsNotInTheGraph) {
  begin();
  p.launch(kFirst);
  p.at("step.cpp", 50, "second_half");
  on_second(p.launch(kSecond));
  p.at("step.cpp", 51, "second_half");
  on_second(p.launch(0));
  p.at("step.cpp", 52, "second_half");
  on_second(p.copy_async(kSecond, Memory::device, Memory::device, 64));
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
  p.launch(kFirst);
  p.record(1, kFirst);
  on_second(p.wait(kSecond, 1));
  on_second(p.launch(kSecond));
  on_second(p.copy_async(kSecond, Memory::device, Memory::device, 64));
  on_second(p.record(2, kSecond));
  p.wait(kFirst, 2);
  p.launch(kFirst);
  finish(4);
  expect_clean();
}

TEST_F(Devices, AForkToAnotherDeviceThatIsNotJoined) {
  begin();
  p.launch(kFirst);
  p.record(1, kFirst);
  p.at("step.cpp", 50, "second_half");
  on_second(p.wait(kSecond, 1));
  on_second(p.launch(kSecond));
  p.at("step.cpp", 90, "capture");
  p.end_capture(kFirst, 0, kUnjoined);
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error unjoined-stream step.cpp:50 second_half"}) << text(report);
}

TEST_F(Devices, ALaunchIntoAStreamThatIsNotTheCurrentDevicesIsRefusedAndMissing) {
  begin();
  p.launch(kFirst);
  p.at("step.cpp", 50, "second_half");
  on_second(p.launch(kFirst)).result = kInvalidHandle;
  finish(1);
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error wrong-device step.cpp:50 second_half"}) << text(report);
  EXPECT_EQ(report.violations.at(0).message,
            "the kernel decode_kernel was refused with cudaErrorInvalidResourceHandle (400): its stream is "
            "on device 0, "
            "and device 1 was current; it is not in the graph");
}

TEST_F(Devices, AndIsOneFaultWhenTheCaptureDiesOfIt) {
  begin();
  p.launch(kFirst);
  p.at("step.cpp", 50, "second_half");
  on_second(p.launch(kFirst)).result = kInvalidHandle;
  p.at("step.cpp", 90, "capture");
  p.launch(kFirst).result = kInvalidated;
  p.end_capture(kFirst, 0, kInvalidated);
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error wrong-device step.cpp:50 second_half"}) << text(report);
  EXPECT_EQ(report.violations.at(0).message.rfind("killed capture 1 of s1: ", 0), 0u) << text(report);
}

TEST_F(Devices, ARefusalForAnotherReasonIsNotTheDevices) {
  begin();
  p.launch(kFirst);
  p.launch(kFirst).result = kInvalidHandle;           // a handle that is none
  on_second(p.launch(kFirst)).result = 1;             // an invalid value
  p.launch(kFirst).stream_device = trace::kNoDevice;  // a stream that nobody saw being made
  finish(2);
  expect_clean();
}

TEST_F(Devices, WhatCudaTakesUnderAnotherCurrentDeviceIsCaptured) {
  begin();
  p.launch(kFirst);
  on_second(p.copy_async(kFirst, Memory::device, Memory::device, 64));
  on_second(p.record(1, kFirst));
  finish(2);
  expect_clean();
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
  on_second(p.launch(kSecond));
  finish(0, false);
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"note empty-graph step.cpp:50 forward"}) << text(report);
}

TEST_F(Devices, CapturedOnAStreamOfTheDeviceOfTheWork) {
  p.at("step.cpp", 10, "capture");
  on_second(p.begin_capture(kSecond));
  on_second(p.launch(kSecond));
  on_second(p.end_capture(kSecond, 1));
  p.instantiate();
  on_second(p.replay(kExec, kSecond));
  p.end();
  expect_clean();
  EXPECT_EQ(trace.report().captures.at(0).device, 1);
}

TEST_F(Devices, AReplayUnderAnotherCurrentDevice) {
  p.healthy_capture();
  for (int i = 0; i < 3; ++i) on_second(p.replay(kExec, kFirst));
  on_second(p.replay(kExec, kSecond));
  p.end();
  expect_clean();
}

TEST_F(Devices, APeerCopyThatCudaTakesIsCaptured) {
  begin();
  p.launch(kFirst);
  p.copy_async(kFirst, Memory::device, Memory::device, 4096).arg = 4;
  on_second(p.copy_async(kFirst, Memory::device, Memory::device, 4096)).arg = 4;
  finish(3);
  expect_clean();
}

TEST_F(Devices, APeerCopyThatCudaRefusesIsNamed) {
  begin();
  p.launch(kFirst);
  p.at("step.cpp", 50, "exchange");
  p.on_stream(Family::memcpy_async, "cudaMemcpyPeerAsync", kFirst, kUnsupported);
  p.at("step.cpp", 90, "capture");
  p.end_capture(kFirst, 0, kInvalidated);
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error capture-invalidated step.cpp:50 exchange"}) << text(report);
}

TEST_F(Devices, OneGraphADeviceJoinedByEventsBetweenTheLaunches) {
  p.healthy_capture(kFirst, kGraph, kExec);
  on_second(p.begin_capture(kSecond));
  on_second(p.launch(kSecond));
  on_second(p.end_capture(kSecond, 1, 0, kGraph2));
  p.instantiate(kExec2, kGraph2);
  for (uint64_t step = 0; step < 3; ++step) {
    p.replay(kExec, kFirst);
    p.record(1, kFirst);
    on_second(p.wait(kSecond, 1));
    on_second(p.replay(kExec2, kSecond));
    on_second(p.record(2, kSecond));
    p.wait(kFirst, 2);
  }
  p.end();
  expect_clean();
}

TEST_F(Devices, TheOtherGraphsEventWaitedForInsideTheCapture) {
  p.healthy_capture(kFirst, kGraph, kExec);
  p.replay(kExec, kFirst);
  p.at("step.cpp", 30, "first_half");
  p.record(1, kFirst);
  p.at("step.cpp", 40, "capture");
  on_second(p.begin_capture(kSecond));
  p.at("step.cpp", 50, "second_half");
  on_second(p.wait(kSecond, 1, kIsolation));
  p.at("step.cpp", 90, "capture");
  on_second(p.end_capture(kSecond, 0, kInvalidated));
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error foreign-event step.cpp:50 second_half"}) << text(report);
}

// Two captures at once, one a device, on one thread: the launches belong to their own.
TEST_F(Devices, CapturesOfBothDevicesAtOnce) {
  p.begin_capture(kFirst);
  on_second(p.begin_capture(kSecond));
  p.launch(kFirst);
  on_second(p.launch(kSecond));
  p.end_capture(kFirst, 1, 0, kGraph);
  on_second(p.end_capture(kSecond, 1, 0, kGraph2));
  p.instantiate(kExec, kGraph);
  p.instantiate(kExec2, kGraph2);
  p.replay(kExec, kFirst);
  on_second(p.replay(kExec2, kSecond));
  p.end();
  expect_clean();
}

}  // namespace
}  // namespace capgate::test
