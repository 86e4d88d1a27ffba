// Two devices: what of a step over both is a fault, and its clean twin, which is none.
#include "detector/analysis/results.h"
#include "tests/unit/analysis/windows/two_devices.h"

namespace capgate::test {
namespace {

using Faults = std::vector<std::string>;

class Devices : public TwoDevices {};

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
