// A call that CUDA refused because of its device, and one that it refused for another reason.
#include "detector/analysis/results.h"
#include "tests/unit/analysis/windows/two_devices.h"

namespace capgate::test {
namespace {

using Faults = std::vector<std::string>;

class DeviceRefusals : public TwoDevices {};

TEST_F(DeviceRefusals, AFunctionOfAnotherDeviceIsRefusedAndMissing) {
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

TEST_F(DeviceRefusals, AFunctionThatTheOtherDevicesStreamTookIsOfThatDevice) {
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

TEST_F(DeviceRefusals, OnAForkedStreamTheForksDeviceCounts) {
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

TEST_F(DeviceRefusals, AndIsOneFaultWhenTheCaptureIsGivenUpForIt) {
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

TEST_F(DeviceRefusals, AnEventOfAnotherDeviceIsRefused) {
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

TEST_F(DeviceRefusals, AlsoOneThatWasNeverRecordedBefore) {
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
TEST_F(DeviceRefusals, WorkOfAForkThatWasRefusedFollowsFromTheRefusal) {
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

TEST_F(DeviceRefusals, ARefusalForAnotherReasonIsNotTheDevices) {
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
TEST_F(DeviceRefusals, NorOfAKernelThatBothDevicesTake) {
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

TEST_F(DeviceRefusals, NorOfAFunctionWhoseModuleMayBeGone) {
  use_second();
  p.call(Family::module_unload, "cuModuleUnload");
  begin();
  p.launch(kOnFirst);
  driver_launch(kOnFirst, analysis::kInvalidHandle);
  finish(1);
  expect_no_device();
}

TEST_F(DeviceRefusals, AHandleThatIsGivenOutAgainIsOfTheNewModulesDevice) {
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

TEST_F(DeviceRefusals, NorWithASecondContextOnTheStreamsDevice) {
  use_second();
  p.call(Family::alloc_device, "cuMemAlloc").context = 0x5100;
  begin();
  p.launch(kOnFirst);
  driver_launch(kOnFirst, analysis::kInvalidHandle);
  p.record(7, kOnFirst, analysis::kInvalidHandle);
  finish(1);
  expect_no_device();
}

TEST_F(DeviceRefusals, NorBeforeTheProcessWorksOnTheOtherDevice) {
  begin();
  p.launch(kOnFirst);
  driver_launch(kOnFirst, analysis::kInvalidHandle);
  p.record(7, kOnFirst, analysis::kInvalidHandle);
  finish(1);
  use_second();
  expect_no_device();
}

// Its first call that is recorded may come later than the event that was made on it.
TEST_F(DeviceRefusals, AContextOnTheOtherDeviceIsEnough) {
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

TEST_F(DeviceRefusals, AnEventOfAnotherProcessIsOfTheDeviceThatItWasOpenedOn) {
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
TEST_F(DeviceRefusals, AnotherProcessOfTheRunMayWorkOnTheOtherDevice) {
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
TEST_F(DeviceRefusals, ALaunchBySymbolThatIsRefusedUnderAnotherCurrentDevice) {
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

TEST_F(DeviceRefusals, NorIsOneInAProcessThatWorksOnOneDevice) {
  begin();
  p.launch(kOnFirst);
  driver_launch(kOnFirst, analysis::kInvalidHandle);
  p.record(1, kOnFirst, analysis::kInvalidHandle);
  finish(1);
  expect_no_device();
}

}  // namespace
}  // namespace capgate::test
