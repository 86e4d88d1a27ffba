// A process with two devices and a stream of each.
#pragma once

#include "tests/unit/analysis/expect.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {

inline constexpr uint64_t kOnFirst = kStream, kOnSecond = kSide;  // a stream of each device
inline constexpr uint64_t kGraph2 = 0x9100, kExec2 = 0xa100;
inline constexpr uint64_t kFunction = 0x7000;

class TwoDevices : public ::testing::Test {
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
    EXPECT_EQ(report.verdict, reports::Verdict::pass) << text(report);
    EXPECT_EQ(faults(report), std::vector<std::string>{}) << text(report);
  }

  // The launch is not in the graph, and its device is not what it was refused for.
  void expect_no_device() {
    EXPECT_EQ(faults(trace.report()), std::vector<std::string>{"error refused-call step.cpp:10 capture"})
        << text(trace.report());
  }

  TraceBuilder trace;
  ProcessBuilder& p = trace.process();
};

}  // namespace capgate::test
