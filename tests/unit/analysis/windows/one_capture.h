// One capture of one stream, with a fault at one line.
#pragma once

#include "detector/analysis/results.h"
#include "tests/unit/analysis/expect.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {

class OneCapture : public testing::Test {
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
    p.launch(kStream).result = analysis::kCaptureInvalidated;
    p.end_capture(kStream, 0, analysis::kCaptureInvalidated);
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
    EXPECT_EQ(faults(report), std::vector<std::string>{severity_and_rule + " step.cpp:50 route"})
        << text(report);
    EXPECT_EQ(report.verdict,
              severity_and_rule.starts_with("error") ? reports::Verdict::fail : reports::Verdict::pass)
        << text(report);
    return report;
  }
};

}  // namespace capgate::test
