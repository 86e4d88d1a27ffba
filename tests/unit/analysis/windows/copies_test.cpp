// What a copy's operands are, and which rule speaks of one that the host may page out.
#include "tests/unit/analysis/expect.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {
namespace {

using reports::Verdict;
using Faults = std::vector<std::string>;

constexpr uint64_t kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3, kDefault = 4;

class Copies : public testing::Test {
 protected:
  Copies() { trace.regions = {"step"}; }

  void begin() {
    p.at("step.cpp", 10, "capture");
    p.begin_capture();
    p.launch(kStream);
    p.at("step.cpp", 50, "upload");
  }
  void end() {
    p.at("step.cpp", 90, "capture");
    p.end_capture(kStream, 2);
  }
  reports::Report launched() {
    p.instantiate();
    p.replay();
    p.end();
    return trace.report();
  }

  TraceBuilder trace;
  ProcessBuilder& p = trace.process();
};

TEST_F(Copies, TheKindOfACopyGoesBeforeWhatCudaSaysOfItsOperands) {
  struct Case {
    uint64_t kind;
    Memory dst, src;
    const char* says;  // empty: silent
  };
  const Case cases[] = {{kDeviceToDevice, Memory::device, Memory::pageable, ""},
                        {kDeviceToDevice, Memory::pageable, Memory::device, ""},
                        {kHostToDevice, Memory::pageable, Memory::pinned, ""},
                        {kDeviceToHost, Memory::pinned, Memory::pageable, ""},
                        {kHostToDevice, Memory::device, Memory::pageable, "every replay will read again"},
                        {kDeviceToHost, Memory::pageable, Memory::device, "every replay will write again"},
                        {kDefault, Memory::device, Memory::pageable, "every replay will read again"},
                        {kDefault, Memory::pageable, Memory::device, "every replay will write again"}};
  for (const auto& c : cases) {
    TraceBuilder run;
    ProcessBuilder& b = run.process();
    b.at("step.cpp", 50, "upload");
    b.begin_capture();
    b.launch(kStream);
    b.copy_async(kStream, c.dst, c.src, 64, HostPlace::heap).arg = c.kind;
    b.end_capture(kStream, 2);
    b.instantiate();
    b.replay();
    b.end();
    const auto report = run.report();
    if (*c.says == 0) {
      EXPECT_EQ(faults(report), Faults{}) << c.kind << text(report);
      continue;
    }
    EXPECT_EQ(faults(report), Faults{"error pageable-copy step.cpp:50 upload"}) << c.kind << text(report);
    ASSERT_EQ(report.violations.size(), 1u);
    EXPECT_NE(report.violations[0].message.find(c.says), std::string::npos) << report.violations[0].message;
  }
}

// CUDA does not know graph memory before the graph runs.
TEST_F(Copies, MemoryOfAStreamOrderedAllocationIsTheDevices) {
  begin();
  p.malloc_async(kStream, 0x70000000, 4096);
  auto& within = p.copy_async(kStream, Memory::device, Memory::pageable, 64, HostPlace::mapping);
  within.src = 0x70000800;
  within.arg = kDefault;
  p.at("step.cpp", 51, "upload");
  auto& behind = p.copy_async(kStream, Memory::device, Memory::pageable, 64, HostPlace::mapping);
  behind.src = 0x70001000;
  behind.arg = kDefault;
  end();
  const auto report = launched();
  EXPECT_EQ(faults(report), Faults{"error pageable-copy step.cpp:51 upload"}) << text(report);
}

TEST_F(Copies, ASynchronousCopyOfTheDevicesOwnDoesNotMakeTheHostWait) {
  for (int pass = 0; pass < 3; ++pass) {
    p.push("step");
    p.at("step.cpp", 50, "upload");
    p.copy(Memory::unknown, Memory::device, 64).arg = kDeviceToDevice;
    p.pop();
  }
  p.end();
  const auto report = trace.report();
  const auto fault = only(report, "sync-copy");
  EXPECT_EQ(fault.message.find("waits"), std::string::npos) << fault.message;
  EXPECT_EQ(report.metrics.at("waits_per_step"), 0);
}

TEST_F(Copies, ACopyAndTheWaitForItSayWhatTheUserAskedFor) {
  for (int pass = 0; pass < 4; ++pass) {
    p.push("step");
    p.in_python("moe.py", 7, "forward");
    for (int expert = 0; expert < 8; ++expert) p.item();
    p.pop();
  }
  p.end();
  const auto fault = only(trace.report(), "host-sync");
  EXPECT_EQ(fault.message, "the host waits for a copy of 4 bytes from the device in the step \"step\"");
  EXPECT_EQ(fault.count, 32);
  ASSERT_TRUE(fault.per_step);
  EXPECT_EQ(fault.per_step->steps, 3u);
  EXPECT_EQ(fault.per_step->count, 8);
}

TEST_F(Copies, ANodeWithHostMemoryThatNoCopyCallTellsIsAHostPointer) {
  begin();
  const uint64_t seq = p.on_stream(Family::other, "cudaMemcpyBatchAsync", kStream).h.seq;
  end();
  p.copy_node(kGraph, 0x31, seq, 0x1000, Memory::device, 0x7ffc0000, Memory::pageable, HostPlace::stack, 32);
  const auto report = launched();
  EXPECT_EQ(faults(report), Faults{"error host-pointer step.cpp:50 upload"}) << text(report);
  const auto fault = only(report, "host-pointer");
  EXPECT_NE(fault.message.find("reads 32 bytes from stack memory"), std::string::npos) << fault.message;
  EXPECT_EQ(fault.details.at("direction"), "host to device");
  EXPECT_EQ(report.verdict, Verdict::fail);
}

TEST_F(Copies, ANodeWhoseCallIsUnknownIsReportedWhereItsCaptureEnds) {
  begin();
  end();
  p.copy_node(kGraph, 0x31, 0, 0x55550000, Memory::unknown, 0x1000, Memory::device, HostPlace::heap, 8);
  const auto report = launched();
  EXPECT_EQ(faults(report), Faults{"error host-pointer step.cpp:90 capture"}) << text(report);
}

TEST_F(Copies, OneFaultForTheCallAndItsNode) {
  begin();
  auto& copy = p.copy_async(kStream, Memory::device, Memory::pageable, 32, HostPlace::stack);
  copy.dst = 0x1000;
  copy.src = 0x7ffc0000;
  const uint64_t seq = copy.h.seq;
  end();
  p.copy_node(kGraph, 0x31, seq, 0x1000, Memory::device, 0x7ffc0000, Memory::pageable, HostPlace::stack, 32);
  EXPECT_EQ(faults(launched()), Faults{"error pageable-copy step.cpp:50 upload"});
}

TEST_F(Copies, NodesWithPinnedOrGraphMemoryAreSilent) {
  begin();
  p.malloc_async(kStream, 0x70000000, 4096);
  const uint64_t seq = p.on_stream(Family::other, "cudaMemcpyBatchAsync", kStream).h.seq;
  end();
  p.copy_node(kGraph, 0x31, seq, 0x1000, Memory::device, 0x60000000, Memory::pinned, HostPlace::mapping, 32);
  p.copy_node(kGraph, 0x32, seq, 0x1000, Memory::device, 0x70000010, Memory::pageable, HostPlace::heap, 32);
  p.copy_node(kGraph, 0x33, seq, 0x1000, Memory::device, 0x62000000, Memory::unknown, HostPlace::mapping, 32);
  EXPECT_EQ(faults(launched()), Faults{});
}

}  // namespace
}  // namespace capgate::test
