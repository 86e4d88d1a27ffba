// What grows from replay to replay: executables that nobody launches again, and memory that graphs do not
// free.
#include "detector/trace/node_kind.h"
#include "tests/unit/analysis/expect.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {
namespace {

using Faults = std::vector<std::string>;

constexpr uint64_t kAddress = 0x302000000;

class Growth : public testing::Test {
 protected:
  // Captured, instantiated and launched once, as a request does that finds nothing in a cache.
  void request(uint64_t number, uint32_t grid = 1, const char* library = nullptr) {
    const uint64_t graph = 0x9000 + number * 16, exec = 0xa000 + number * 16;
    p.at("serve.cpp", 10, "serve");
    p.begin_capture();
    p.launch(kStream);
    p.end_capture(kStream, 1, 0, graph);
    auto node = ProcessBuilder::node_of(graph, 0x100 + number, trace::kKernelNode);
    node.grid[0] = grid;
    p.graph_node(node);
    if (library)
      p.in_library(library, "GraphInstantiate", "serve.cpp", 20, "serve");
    else
      p.at("serve.cpp", 20, "serve");
    p.instantiate(exec, graph);
    p.replay(exec);
  }
  Faults judged() {
    p.end();
    return faults(trace.report());
  }

  TraceBuilder trace;
  ProcessBuilder& p = trace.process();
};

TEST_F(Growth, OneAndTheSameGraphForEachRequestIsAWarning) {
  for (uint64_t i = 0; i < 12; ++i) request(i);
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"warning recapture serve.cpp:20 serve"}) << text(report);
  const auto found = only(report, "recapture");
  EXPECT_EQ(found.count, 11u);
  EXPECT_EQ(found.details.at("executables"), "12");
  EXPECT_EQ(found.details.at("alive together"), "12");
  EXPECT_EQ(found.details.at("executables per launch"), "1.00");
}

// XLA's command buffers are made anew by XLA, whatever the program does.
TEST_F(Growth, GraphsThatALibraryMakesAnewAreANote) {
  for (uint64_t i = 0; i < 12; ++i) request(i, 1, "xla_cuda_plugin.so");
  EXPECT_EQ(judged(), Faults{"note recapture serve.cpp:20 serve"});
}

TEST_F(Growth, AGraphForEachSizeIsSilent) {
  for (uint64_t i = 0; i < 51; ++i) request(i, static_cast<uint32_t>(i + 1));
  EXPECT_EQ(judged(), Faults{});
}

TEST_F(Growth, EqualGraphsThatAreAllLaunchedAgainAreSilent) {
  for (uint64_t i = 0; i < 12; ++i) request(i);
  for (uint64_t i = 0; i < 12; ++i) p.replay(0xa000 + i * 16);
  EXPECT_EQ(judged(), Faults{});
}

TEST_F(Growth, AFewEqualGraphsAreSilent) {
  for (uint64_t i = 0; i < 7; ++i) request(i);
  EXPECT_EQ(judged(), Faults{});
}

TEST_F(Growth, GraphsThatServeManyLaunchesEachAreSilent) {
  for (uint64_t i = 0; i < 12; ++i) {
    request(i);
    for (int k = 0; k < 20; ++k) p.replay(0xa000 + i * 16);
  }
  EXPECT_EQ(judged(), Faults{});
}

TEST_F(Growth, AnExecutableThatIsUpdatedForEachRequestIsSilent) {
  request(0);
  for (uint64_t i = 1; i < 20; ++i) {
    p.begin_capture();
    p.launch(kStream);
    p.end_capture(kStream, 1, 0, 0x9000 + i * 16);
    auto& update = p.call(Family::graph_exec_update, "cudaGraphExecUpdate");
    update.object = 0xa000;
    update.object2 = 0x9000 + i * 16;
    p.replay(0xa000);
  }
  EXPECT_EQ(judged(), Faults{});
}

class GraphMemory : public testing::Test {
 protected:
  // One allocation, freed in the graph or not.
  void capture(bool frees, uint64_t flags = 0, uint64_t number = 0) {
    const uint64_t graph = kGraph + number * 16;
    p.at("step.cpp", 10, "step");
    p.begin_capture();
    p.at("step.cpp", 12, "step");
    auto& made = p.malloc_async(kStream, kAddress, 4096);
    const uint64_t seq = made.h.seq;
    p.at("step.cpp", 14, "step");
    p.end_capture(kStream, 2, 0, graph);
    p.made_node(graph, 0x100 + number * 16, seq);
    auto node = ProcessBuilder::node_of(graph, 0x100 + number * 16, trace::kAllocNode);
    node.dst = kAddress + number * 0x10000;
    node.bytes = 4096;
    p.graph_node(node);
    if (frees) {
      auto free = ProcessBuilder::node_of(graph, 0x108 + number * 16, trace::kFreeNode);
      free.dst = node.dst;
      p.graph_node(free);
    }
    p.instantiate(kExec + number * 16, graph);
    p.last_call().arg = flags;
  }
  Faults judged() {
    p.end();
    return faults(trace.report());
  }

  TraceBuilder trace;
  ProcessBuilder& p = trace.process();
};

TEST_F(GraphMemory, ARefusedRelaunchNamesTheAllocation) {
  capture(false);
  p.at("step.cpp", 20, "run");
  p.replay();
  p.replay().result = 1;
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error graph-alloc-leak step.cpp:12 step"}) << text(report);
  EXPECT_EQ(only(report, "graph-alloc-leak").details.at("refused launches"), "1");
}

TEST_F(GraphMemory, MemoryThatIsFreedBetweenLaunchesIsSilent) {
  capture(false);
  p.replay();
  p.on_stream(Family::free_async, "cudaFreeAsync", kStream).dst = kAddress;
  p.replay();
  EXPECT_EQ(judged(), Faults{});
}

TEST_F(GraphMemory, AGraphThatFreesItIsSilent) {
  capture(true);
  for (int i = 0; i < 3; ++i) p.replay();
  EXPECT_EQ(judged(), Faults{});
}

TEST_F(GraphMemory, OneThatFreesOnLaunchIsSilent) {
  capture(false, 1);
  for (int i = 0; i < 3; ++i) p.replay();
  EXPECT_EQ(judged(), Faults{});
}

TEST_F(GraphMemory, ARelaunchThatIsRefusedForAnotherReasonIsTheGraphs) {
  capture(true);
  p.at("step.cpp", 20, "run");
  p.replay();
  p.replay().result = 1;
  EXPECT_EQ(judged(), Faults{"error graph-refused step.cpp:20 run"});
}

TEST_F(GraphMemory, WhatGraphAfterGraphLeavesBehindIsNamed) {
  for (uint64_t i = 0; i < 9; ++i) {
    capture(false, 0, i);
    p.replay(kExec + i * 16);
    p.call(Family::graph_exec_destroy, "cudaGraphExecDestroy").object = kExec + i * 16;
  }
  p.end();
  const auto report = trace.report();
  const auto found = only(report, "graph-alloc-leak");
  EXPECT_EQ(found.details.at("graphs"), "9");
  EXPECT_EQ(found.bytes, 9u * 4096);
}

}  // namespace
}  // namespace capgate::test
