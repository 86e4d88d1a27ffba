// A program with one block of memory, one captured kernel that uses it, and launches.
#pragma once

#include <algorithm>

#include "reports/model/names.h"
#include "tests/unit/analysis/expect.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {

using Faults = std::vector<std::string>;

inline constexpr uint64_t kBlock = 0x7f0000100000, kBytes = 4096;

inline std::vector<std::string> roles(const reports::Violation& violation) {
  std::vector<std::string> out;
  for (const auto& stack : violation.stacks) out.emplace_back(name(stack.role));
  std::sort(out.begin(), out.end());
  return out;
}

class FreedMemory : public testing::Test {
 protected:
  CallRecord& born(uint64_t address = kBlock, uint64_t bytes = kBytes, int line = 10) {
    p.at("step.cpp", line, "make");
    CallRecord& call = p.malloc(bytes);
    call.out = address;
    return call;
  }
  CallRecord& died(uint64_t address = kBlock, int line = 40) {
    p.at("step.cpp", line, "grow");
    CallRecord& call = p.free();
    call.dst = address;
    return call;
  }
  // One kernel whose second parameter is `address`.
  void captured(uint64_t address = kBlock + 64, uint64_t graph = kGraph, uint64_t exec = kExec) {
    p.at("step.cpp", 20, "record");
    p.begin_capture();
    p.at("step.cpp", 21, "record");
    const uint64_t maker = p.launch(kStream).h.seq;
    p.at("step.cpp", 20, "record");
    p.end_capture(kStream, 1, 0, graph);
    p.kernel_node(graph, 0xb000 + graph, maker, "scale", {7, address});
    p.instantiate(exec, graph);
  }
  void launched(int times = 1, uint64_t exec = kExec) {
    p.at("step.cpp", 50, "decode");
    for (int i = 0; i < times; ++i) p.replay(exec);
  }
  reports::Report report() {
    p.end();
    return trace.report();
  }

  TraceBuilder trace;
  ProcessBuilder& p = trace.process();
};

}  // namespace capgate::test
