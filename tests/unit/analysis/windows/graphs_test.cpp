// Graphs that are built, nested, changed and refused: what an executable holds when it is launched is judged,
// at the line that put it there.
#include <algorithm>

#include "detector/trace/node_kind.h"
#include "tests/unit/analysis/expect.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {
namespace {

using reports::Verdict;
using Faults = std::vector<std::string>;

trace::GraphNodeRecord copy_from(HostPlace place, uint64_t graph = kGraph, uint64_t node = kNode) {
  auto record = ProcessBuilder::node_of(graph, node, trace::kCopyNode);
  record.dst = 0x7000;
  record.src = 0x5000;
  record.bytes = 64;
  record.dst_memory = static_cast<uint8_t>(Memory::device);
  record.src_memory = static_cast<uint8_t>(place == HostPlace::unknown ? Memory::pinned : Memory::pageable);
  record.src_place = static_cast<uint8_t>(place);
  return record;
}

class Graphs : public testing::Test {
 protected:
  // A graph with one copy node, added at build.cpp:20.
  void build(HostPlace place) {
    p.at("build.cpp", 20, "build");
    p.add_node(kGraph, kNode);
    p.at("build.cpp", 30, "make");
    p.instantiate();
    p.contents(kGraph, 1);
    p.graph_node(copy_from(place));
  }
  reports::Report launched() {
    p.at("build.cpp", 40, "run");
    p.replay();
    p.end();
    return trace.report();
  }

  TraceBuilder trace;
  ProcessBuilder& p = trace.process();
};

TEST_F(Graphs, ABuiltGraphThatReadsTheHeapIsNamedWhereTheNodeWasAdded) {
  build(HostPlace::heap);
  const auto report = launched();
  EXPECT_EQ(faults(report), Faults{"warning host-pointer build.cpp:20 build"}) << text(report);
  EXPECT_EQ(only(report, "host-pointer").bytes, 64u);
}

// Nobody sees the heap's and the system's frees of what a node names: it may be a vector of main's, or one
// that is gone. Both are named, and neither is a pass or an error.
TEST_F(Graphs, HeapAndMappedMemoryOfABuiltGraphProvesNothingEitherWay) {
  for (const auto place : {HostPlace::heap, HostPlace::mapping}) {
    TraceBuilder run;
    ProcessBuilder& b = run.process();
    b.at("build.cpp", 20, "build");
    b.add_node(kGraph, kNode);
    b.instantiate();
    b.contents(kGraph, 1);
    b.graph_node(copy_from(place));
    b.replay();
    b.end();
    const auto report = run.report();
    EXPECT_EQ(faults(report), Faults{"warning host-pointer build.cpp:20 build"}) << text(report);
    EXPECT_EQ(only(report, "host-pointer").details.at("at each launch"), "not known");
    EXPECT_EQ(report.verdict, Verdict::inconclusive);
    ASSERT_EQ(report.reasons.size(), 1u) << text(report);
    EXPECT_NE(report.reasons[0].remedy.find("pinned memory"), std::string::npos);
  }
}

TEST_F(Graphs, ABuiltGraphWithoutWorkProvesNothing) {
  for (const auto& [kind, verdict] : {std::pair{trace::kEmptyNode, Verdict::inconclusive},
                                      {trace::kEventRecordNode, Verdict::inconclusive},
                                      {trace::kMemsetNode, Verdict::pass}}) {
    TraceBuilder run;
    ProcessBuilder& b = run.process();
    b.at("build.cpp", 20, "build");
    b.add_node(kGraph, kNode);
    b.instantiate();
    b.contents(kGraph, 1);
    b.graph_node(ProcessBuilder::node_of(kGraph, kNode, kind));
    b.replay();
    b.end();
    const auto report = run.report();
    EXPECT_EQ(report.verdict, verdict) << kind;
    if (verdict != Verdict::inconclusive) continue;
    ASSERT_EQ(report.reasons.size(), 1u);
    EXPECT_EQ(report.reasons[0].text.find("graphs were launched once, and no work was seen in them"), 0u)
        << report.reasons[0].text;
  }
}

TEST_F(Graphs, AVariableOfAFunctionThatRunsAtEachLaunchIsAWarning) {
  for (const std::string function : {"build", "later"}) {
    TraceBuilder run;
    ProcessBuilder& b = run.process();
    b.at("build.cpp", 20, "build");
    b.add_node(kGraph, kNode);
    b.instantiate();
    b.contents(kGraph, 1);
    b.graph_node(copy_from(HostPlace::stack));
    b.at("build.cpp", 40, function);
    b.replay();
    b.replay();
    b.end();
    EXPECT_EQ(faults(run.report()), Faults{(function == "build" ? "warning" : "error") +
                                           std::string(" host-pointer build.cpp:20 build")});
  }
}

TEST_F(Graphs, OneThatNobodyLaunchesIsSilent) {
  build(HostPlace::heap);
  p.end();
  EXPECT_EQ(faults(trace.report()), Faults{});
}

TEST_F(Graphs, OneOfPinnedMemoryIsJudgedAndPasses) {
  build(HostPlace::unknown);
  const auto report = launched();
  EXPECT_EQ(faults(report), Faults{});
  EXPECT_EQ(report.verdict, Verdict::pass) << text(report);
  EXPECT_EQ(report.coverage.kind, reports::CoverageKind::capture);
}

TEST_F(Graphs, LaunchesOfWhatTheTraceDoesNotHoldProveNothing) {
  p.instantiate();
  const auto report = launched();
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_EQ(report.coverage.kind, reports::CoverageKind::nothing);
}

TEST_F(Graphs, ANodeThatTheDeviceMayChangeIsNotCompared) {
  p.instantiate();
  p.contents(kGraph, 1);
  auto node = ProcessBuilder::node_of(kGraph, kNode, trace::kKernelNode);
  node.param_layout = trace::kDeviceUpdatable;
  p.graph_node(node);
  const auto report = launched();
  const auto& gaps = report.coverage.not_checked;
  EXPECT_NE(std::find(gaps.begin(), gaps.end(), "1 kernel node that the device may change: not compared"),
            gaps.end());
}

TEST_F(Graphs, AHostNodeThatWasAddedByHandIsAWarning) {
  p.at("build.cpp", 20, "build");
  p.add_node(kGraph, kNode, "cudaGraphAddHostNode");
  p.instantiate();
  p.contents(kGraph, 1);
  p.graph_node(ProcessBuilder::node_of(kGraph, kNode, trace::kHostNode));
  EXPECT_EQ(faults(launched()), Faults{"warning host-node build.cpp:20 build"});
}

TEST_F(Graphs, ABodyAndAChildAreJudgedWithTheGraphThatHoldsThem) {
  for (const uint32_t kind : {trace::kChildNode, trace::kConditionalNode}) {
    TraceBuilder run;
    ProcessBuilder& b = run.process();
    b.at("build.cpp", 20, "build");
    b.add_node(kInner, kNode);
    b.at("build.cpp", 25, "nest");
    b.add_node(kGraph, kOther);
    b.at("build.cpp", 30, "make");
    b.instantiate();
    b.contents(kGraph, 1);
    b.graph_node(ProcessBuilder::node_of(kGraph, kOther, kind));
    b.link(kGraph, kOther, kind, kInner);
    b.contents(kInner, 1);
    b.graph_node(copy_from(HostPlace::stack, kInner));
    b.replay();
    b.end();
    EXPECT_EQ(faults(run.report()), Faults{"error host-pointer build.cpp:20 build"}) << kind;
  }
}

TEST_F(Graphs, ACaptureIsLaunchedByTheGraphThatHoldsItAsAChild) {
  p.at("step.cpp", 10, "capture");
  p.begin_capture();
  p.at("step.cpp", 12, "capture");
  auto& copy = p.copy_async(kStream, Memory::pageable, Memory::device, 16, HostPlace::stack);
  const uint64_t copied = copy.h.seq, dst = copy.dst, src = copy.src;
  p.copy_node(kInner, kNode, copied, dst, Memory::pageable, src, Memory::device, HostPlace::stack, 16);
  p.at("step.cpp", 14, "capture");
  p.end_capture(kStream, 1, 0, kInner);
  p.at("build.cpp", 25, "nest");
  p.add_node(kGraph, kOther, "cudaGraphAddChildGraphNode");
  constexpr uint64_t kCopied = 0x201, kHeld = 0x9200;
  p.clone(kHeld, kCopied, kNode);
  p.instantiate();
  p.contents(kGraph, 1);
  p.graph_node(ProcessBuilder::node_of(kGraph, kOther, trace::kChildNode));
  p.link(kGraph, kOther, trace::kChildNode, kHeld);
  const auto report = launched();
  EXPECT_EQ(faults(report), Faults{"error pageable-copy step.cpp:12 capture"}) << text(report);
}

TEST_F(Graphs, NewParametersAreJudgedWhereTheyWereGiven) {
  build(HostPlace::unknown);
  p.at("build.cpp", 35, "renew");
  p.call(Family::graph_exec_set, "cudaGraphExecMemcpyNodeSetParams1D").object = kExec;
  p.exec_node(copy_from(HostPlace::heap, kExec));
  EXPECT_EQ(faults(launched()), Faults{"warning host-pointer build.cpp:35 renew"});
}

TEST_F(Graphs, ParametersThatNoLaunchEverHadAreNotJudged) {
  build(HostPlace::heap);
  p.at("build.cpp", 35, "renew");
  p.call(Family::graph_exec_set, "cudaGraphExecMemcpyNodeSetParams1D").object = kExec;
  p.exec_node(copy_from(HostPlace::unknown, kExec));
  EXPECT_EQ(faults(launched()), Faults{});
}

TEST_F(Graphs, AnUpdateReplacesWhatAnExecutableHolds) {
  build(HostPlace::heap);
  p.at("build.cpp", 36, "update");
  auto& update = p.call(Family::graph_exec_update, "cudaGraphExecUpdate");
  update.object = kExec;
  update.object2 = kInner;
  p.contents(kInner, 1);
  p.graph_node(copy_from(HostPlace::unknown, kInner, kOther));
  EXPECT_EQ(faults(launched()), Faults{});
}

// An instantiation that fails for an allocation in a conditional node's body.
void refuse_body(ProcessBuilder& p, uint64_t blamed) {
  p.at("build.cpp", 20, "refine");
  p.add_node(kInner, kNode, "cudaMallocAsync");
  p.at("build.cpp", 25, "nest");
  p.add_node(kGraph, kOther);
  p.at("build.cpp", 30, "make");
  auto& refused = p.call(Family::graph_instantiate, "cudaGraphInstantiate", 1);
  refused.object2 = kGraph;
  refused.dst = blamed;
  p.contents(kGraph, 1);
  p.graph_node(ProcessBuilder::node_of(kGraph, kOther, trace::kConditionalNode));
  p.link(kGraph, kOther, trace::kConditionalNode, kInner);
  p.contents(kInner, 1);
  p.graph_node(ProcessBuilder::node_of(kInner, kNode, trace::kAllocNode));
}

TEST_F(Graphs, ARefusedInstantiationNamesTheNodeThatIsKnownToBeRefused) {
  for (const uint64_t blamed : {uint64_t{0}, kNode}) {
    TraceBuilder run;
    refuse_body(run.process(), blamed);
    run.process().end();
    const auto report = run.report();
    EXPECT_EQ(faults(report), Faults{"error graph-refused build.cpp:20 refine"}) << text(report);
    const auto refused = only(report, "graph-refused");
    EXPECT_EQ(refused.result, "cudaErrorInvalidValue (1)");
    EXPECT_EQ(refused.details.at("node"), "an allocation in the body of a conditional node");
    EXPECT_EQ(refused.details.at("named by"), blamed ? "CUDA" : "what CUDA is known to refuse");
  }
}

// A dead capture leaves no graph: what is done with the null handle fails for that reason alone.
TEST_F(Graphs, WhatFollowsFromADeadCaptureIsANote) {
  p.at("step.cpp", 10, "capture");
  p.begin_capture();
  p.at("step.cpp", 12, "capture");
  p.sync(kStream, 900);
  p.at("step.cpp", 14, "capture");
  p.end_capture(kStream, 0, 901);
  p.at("build.cpp", 30, "make");
  p.call(Family::graph_instantiate, "cudaGraphInstantiate", 1).object2 = 0;
  p.at("build.cpp", 31, "run");
  p.call(Family::graph_launch, "cudaGraphLaunch", 1).object = 0;
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report),
            (Faults{"error host-sync step.cpp:12 capture", "note graph-refused build.cpp:30 make",
                    "note graph-refused build.cpp:31 run"}))
      << text(report);
  EXPECT_EQ(report.violations[1].situation, "graph-refused.no-graph");
}

TEST_F(Graphs, TheFirstCallThatReportsABrokenDeviceIsNamed) {
  build(HostPlace::unknown);
  p.at("build.cpp", 40, "run");
  p.call(Family::graph_launch, "cudaGraphLaunch", 719).object = kExec;
  p.sync(kStream, 719);
  p.end();
  const auto report = trace.report();
  const auto& gaps = report.coverage.not_checked;
  EXPECT_EQ(std::count_if(gaps.begin(), gaps.end(),
                          [](const auto& gap) { return gap.find("what broke the device") == 0; }),
            1);
  EXPECT_NE(
      std::find(gaps.begin(), gaps.end(),
                "what broke the device: cudaGraphLaunch gave cudaErrorLaunchFailure (719), the first call to "
                "report it"),
      gaps.end())
      << text(report);
}

TEST_F(Graphs, ARefusalWithoutAnyNodeIsNamedAtTheCall) {
  p.at("build.cpp", 30, "make");
  p.call(Family::graph_instantiate, "cudaGraphInstantiate", 1).object2 = kGraph;
  p.contents(kGraph, 1);
  p.graph_node(ProcessBuilder::node_of(kGraph, kNode, trace::kKernelNode));
  p.end();
  EXPECT_EQ(faults(trace.report()), Faults{"error graph-refused build.cpp:30 make"});
}

TEST_F(Graphs, ARefusedUpdateIsAnErrorOnlyWhenTheOldExecutableRunsOn) {
  for (const bool handled : {true, false}) {
    TraceBuilder run;
    ProcessBuilder& b = run.process();
    b.at("step.cpp", 10, "capture");
    b.healthy_capture();
    b.replay();
    b.at("step.cpp", 20, "update");
    auto& refused = b.call(Family::graph_exec_update, "cudaGraphExecUpdate", 910);
    refused.object = kExec;
    refused.object2 = kInner;
    refused.bytes = 2;  // cudaGraphExecUpdateErrorTopologyChanged
    if (handled) {
      b.call(Family::graph_exec_destroy, "cudaGraphExecDestroy").object = kExec;
      b.instantiate(kExec, kInner);
    }
    b.replay();
    b.end();
    const auto report = run.report();
    EXPECT_EQ(faults(report), Faults{handled ? "note graph-refused step.cpp:20 update"
                                             : "error graph-refused step.cpp:20 update"})
        << text(report);
    EXPECT_EQ(only(report, "graph-refused").details.at("reason"), "the new graph has other nodes or edges");
  }
}

TEST_F(Graphs, ADeviceThatFailedIsNoRefusal) {
  p.healthy_capture();
  p.replay().result = 719;
  p.end();
  EXPECT_EQ(faults(trace.report()), Faults{});
}

// Captured and launched in one function, as samples do it.
class Alive : public testing::Test {
 protected:
  Faults launched_from(const std::string& function, HostPlace place, int copies = 1) {
    TraceBuilder trace;
    ProcessBuilder& p = trace.process();
    p.at("step.cpp", 10, "run");
    p.begin_capture();
    p.launch(kStream);
    p.at("step.cpp", 12, "run");
    for (int i = 0; i < copies; ++i) {
      auto& copy = p.copy_async(kStream, Memory::pageable, Memory::device, 4, place);
      copy.dst = 0x5000;
      copy.arg = 2;
    }
    p.at("step.cpp", 14, "run");
    p.end_capture(kStream, 2);
    p.instantiate();
    p.at("step.cpp", 20, function);
    p.replay();
    p.replay();
    p.end();
    return faults(trace.report());
  }
};

TEST_F(Alive, AVariableOfAFunctionThatStillRunsIsAWarning) {
  EXPECT_EQ(launched_from("run", HostPlace::stack), Faults{"warning pageable-copy step.cpp:12 run"});
}

TEST_F(Alive, OneOfAFunctionThatHasReturnedIsAnError) {
  EXPECT_EQ(launched_from("later", HostPlace::stack), Faults{"error pageable-copy step.cpp:12 run"});
}

TEST_F(Alive, AnAddressThatTwoCopiesShareIsAVariableOfABlock) {
  EXPECT_EQ(launched_from("run", HostPlace::stack, 2), Faults{"error pageable-copy step.cpp:12 run"});
}

TEST_F(Alive, AStaticIsAWarningAndTheHeapIsNot) {
  EXPECT_EQ(launched_from("later", HostPlace::module_data), Faults{"warning pageable-copy step.cpp:12 run"});
  EXPECT_EQ(launched_from("run", HostPlace::heap), Faults{"error pageable-copy step.cpp:12 run"});
}

class RefusedCalls : public testing::Test {
 protected:
  void begin() {
    p.at("step.cpp", 10, "capture");
    p.begin_capture();
    p.launch(kStream);
    p.at("step.cpp", 20, "upload");
  }
  CallRecord& refuse(int32_t result = 900) {
    auto& copy = p.copy_async(kStream, Memory::device, Memory::pinned, 64);
    copy.dst = 0x7000;
    copy.result = result;
    return copy;
  }
  reports::Report ended(int32_t result = 0) {
    p.at("step.cpp", 30, "capture");
    p.end_capture(kStream, 1, result);
    if (result == 0) {
      p.instantiate();
      p.replay();
    }
    p.end();
    return trace.report();
  }

  TraceBuilder trace;
  ProcessBuilder& p = trace.process();
};

TEST_F(RefusedCalls, OneThatTheCaptureSurvivesIsAnError) {
  begin();
  refuse();
  EXPECT_EQ(faults(ended()), Faults{"error refused-call step.cpp:20 upload"});
}

TEST_F(RefusedCalls, PageableMemoryInOneIsInNoGraph) {
  begin();
  auto& copy = p.copy_async(kStream, Memory::device, Memory::pageable, 64, HostPlace::stack);
  copy.result = 900;
  EXPECT_EQ(faults(ended()), Faults{"error refused-call step.cpp:20 upload"});
}

TEST_F(RefusedCalls, OneThatAnotherCallReplacesIsANote) {
  begin();
  refuse();
  p.copy_async(kStream, Memory::device, Memory::pinned, 64).dst = 0x7000;
  EXPECT_EQ(faults(ended()), Faults{"note refused-call step.cpp:20 upload"});
}

TEST_F(RefusedCalls, OneThatKillsTheCaptureIsAnotherRules) {
  begin();
  refuse();
  const auto report = ended(901);
  for (const auto& fault : faults(report)) EXPECT_EQ(fault.find("refused-call"), std::string::npos) << fault;
  EXPECT_EQ(report.verdict, Verdict::fail);
}

}  // namespace
}  // namespace capgate::test
