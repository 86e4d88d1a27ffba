// Memory under graphs that no capture made: built node by node, nested, cloned, updated, and changed node by
// node.
#include "detector/trace/node_kind.h"
#include "tests/unit/analysis/freed_memory.h"

namespace capgate::test {
namespace {

using trace::GraphNodeRecord;

constexpr uint64_t kSecond = kBlock + 0x100000;

GraphNodeRecord set_of(uint64_t address, uint64_t graph = kGraph, uint64_t node = kNode) {
  auto record = ProcessBuilder::node_of(graph, node, trace::kMemsetNode);
  record.dst = address;
  record.bytes = 64;
  record.dst_memory = static_cast<uint8_t>(Memory::device);
  return record;
}

class BuiltMemory : public FreedMemory {
 protected:
  void add(uint64_t graph = kGraph, uint64_t node = kNode, int line = 20) {
    p.at("build.cpp", line, "build");
    p.add_node(graph, node);
  }
  // The executable of a graph with these nodes.
  void make(const std::vector<GraphNodeRecord>& nodes) {
    p.at("build.cpp", 30, "make");
    p.instantiate();
    p.contents(kGraph, nodes.size());
    for (const auto& node : nodes) p.graph_node(node);
  }
  // One node that sets memory, added at build.cpp:20.
  void build(uint64_t address = kBlock) {
    add();
    make({set_of(address)});
  }
  void change(const std::string& name, uint64_t node = kNode, uint64_t arg = 0) {
    p.at("build.cpp", 35, "renew");
    CallRecord& call = p.call(Family::graph_exec_set, name);
    call.object = kExec;
    call.object2 = node;
    call.arg = arg;
  }
  void set(uint64_t address) {
    change("cudaGraphExecMemsetNodeSetParams");
    p.exec_node(set_of(address, kExec));
  }
};

TEST_F(BuiltMemory, EachKindOfNodeHoldsItsMemory) {
  struct Case {
    uint32_t kind;
    bool pinned;
    const char* node;
  };
  for (const Case& c :
       {Case{trace::kKernelNode, false, "the kernel scale"}, Case{trace::kMemsetNode, false, "a memset"},
        Case{trace::kCopyNode, false, "a copy into it"}, Case{trace::kCopyNode, true, "a copy from it"},
        Case{trace::kHostNode, true, "a host function"}}) {
    TraceBuilder other;
    ProcessBuilder& b = other.process();
    b.at("step.cpp", 10, "make");
    (c.pinned ? b.malloc_host(kBytes) : b.malloc(kBytes)).out = kBlock;
    b.at("build.cpp", 20, "build");
    b.add_node(kGraph, kNode);
    b.at("build.cpp", 30, "make");
    b.instantiate();
    b.contents(kGraph, 1);
    auto node = ProcessBuilder::node_of(kGraph, kNode, c.kind);
    (c.pinned ? node.src : node.dst) = kBlock + 8;
    if (c.kind == trace::kKernelNode)
      b.kernel_node(kGraph, kNode, 0, "scale", {7, kBlock + 8});
    else
      b.graph_node(node);
    b.replay();
    b.at("step.cpp", 40, "grow");
    b.call(c.pinned ? Family::free_host : Family::free_device, c.pinned ? "cudaFreeHost" : "cudaFree").dst =
        kBlock;
    b.at("step.cpp", 50, "decode");
    b.replay();
    b.replay();
    b.end();
    const auto report = other.report();
    const auto fault = only(report, "freed-memory");
    EXPECT_EQ(fault.severity, reports::Severity::error) << c.node;
    EXPECT_EQ(fault.location.line, 40);
    EXPECT_EQ(fault.details.at("node"), c.node);
    EXPECT_EQ(fault.details.at("graph"), "built node by node");
    EXPECT_EQ(fault.details.at("captured at"), "build.cpp:20");
    EXPECT_EQ(fault.details.at("launches"), "2");
    std::string use = std::string(c.node) + " of a graph that is built node by node uses";
    if (const std::string copy = "a copy from it"; c.node == copy)
      use = "a copy of a graph that is built node by node reads";
    if (const std::string copy = "a copy into it"; c.node == copy)
      use = "a copy of a graph that is built node by node writes";
    EXPECT_NE(fault.message.find(use + ": the graph was launched 2 times since"), std::string::npos)
        << fault.message;
    EXPECT_EQ(report.coverage.replay, (reports::ReplayCoverage{1, 3, reports::MemoryWatched::blocks, {}}));
  }
}

TEST_F(BuiltMemory, MemoryThatLivesThroughEveryLaunchIsSilent) {
  born();
  build();
  launched(3);
  died();
  EXPECT_EQ(faults(report()), Faults{});
}

TEST_F(BuiltMemory, ABlockThatDiesBeforeItsGraphIsInstantiatedIsLost) {
  born();
  add();
  died();
  make({set_of(kBlock)});
  launched();
  EXPECT_EQ(faults(report()), Faults{"error freed-memory step.cpp:40 grow"});
}

// Which block the address was counts when the node was last given it.
TEST_F(BuiltMemory, ANodesParametersCountFromTheCallThatSetThemLast) {
  born();
  add();
  died();
  born(kBlock, kBytes, 11);
  p.at("build.cpp", 25, "build");
  p.call(Family::graph_node_set, "cudaGraphMemsetNodeSetParams").object2 = kNode;
  make({set_of(kBlock)});
  launched();
  EXPECT_EQ(faults(report()), Faults{});
}

TEST_F(BuiltMemory, ANodeThatTheDeviceMayChangeHoldsNothingThatIsKnown) {
  born();
  add();
  auto node = set_of(kBlock);
  node.param_layout = trace::kDeviceUpdatable;
  make({node});
  died();
  launched();
  EXPECT_EQ(faults(report()), Faults{});
}

TEST_F(BuiltMemory, ChildGraphsAndBodiesHoldTheirMemory) {
  for (const uint32_t kind : {trace::kChildNode, trace::kConditionalNode}) {
    TraceBuilder other;
    ProcessBuilder& b = other.process();
    b.malloc(kBytes).out = kBlock;
    b.at("build.cpp", 21, "build_inner");
    b.add_node(kInner, kNode);
    b.at("build.cpp", 25, "nest");
    b.add_node(kGraph, kOther);
    b.instantiate();
    b.contents(kGraph, 1);
    b.graph_node(ProcessBuilder::node_of(kGraph, kOther, kind));
    b.link(kGraph, kOther, kind, kInner);
    b.contents(kInner, 1);
    b.graph_node(set_of(kBlock, kInner));
    b.replay();
    b.at("step.cpp", 40, "grow");
    b.free().dst = kBlock;
    b.replay();
    b.end();
    const auto report = other.report();
    EXPECT_EQ(faults(report), Faults{"error freed-memory step.cpp:40 grow"}) << text(report);
    EXPECT_EQ(only(report, "freed-memory").details.at("captured at"), "build.cpp:21");
  }
}

TEST_F(BuiltMemory, ACloneHoldsWhatItsOriginalDid) {
  constexpr uint64_t kClone = 0x9200, kCloned = 0x201;
  born();
  add();
  p.at("build.cpp", 27, "copy");
  p.call(Family::graph_create, "cudaGraphClone");
  p.clone(kClone, kCloned, kNode);
  p.instantiate(kExec, kClone);
  p.contents(kClone, 1);
  p.graph_node(set_of(kBlock, kClone, kCloned));
  launched();
  died();
  launched();
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{"error freed-memory step.cpp:40 grow"}) << text(report);
  EXPECT_EQ(only(report, "freed-memory").details.at("captured at"), "build.cpp:20");
}

TEST_F(BuiltMemory, AfterAnUpdateTheNewGraphsMemoryCounts) {
  for (const bool old : {true, false}) {
    TraceBuilder other;
    ProcessBuilder& b = other.process();
    b.malloc(kBytes).out = kBlock;
    b.malloc(kBytes).out = kSecond;
    b.add_node(kGraph, kNode);
    b.instantiate();
    b.contents(kGraph, 1);
    b.graph_node(set_of(kBlock));
    b.replay();
    b.add_node(kInner, kOther);
    auto& update = b.call(Family::graph_exec_update, "cudaGraphExecUpdate");
    update.object = kExec;
    update.object2 = kInner;
    b.contents(kInner, 1);
    b.graph_node(set_of(kSecond, kInner, kOther));
    b.replay();
    b.at("step.cpp", 40, "grow");
    b.free().dst = old ? kBlock : kSecond;
    b.replay();
    b.end();
    EXPECT_EQ(faults(other.report()), old ? Faults{} : Faults{"error freed-memory step.cpp:40 grow"});
  }
}

TEST_F(BuiltMemory, ANodesNewParametersReplaceItsOldOnes) {
  born();
  born(kSecond, kBytes, 12);
  build();
  launched();
  set(kSecond);
  died();
  launched();
  died(kSecond, 41);
  launched(2);
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{"error freed-memory step.cpp:41 grow"}) << text(report);
  const auto fault = only(report, "freed-memory");
  EXPECT_EQ(fault.details.at("graph"), "changed node by node");
  EXPECT_EQ(fault.details.at("captured at"), "build.cpp:35");
}

TEST_F(BuiltMemory, AKernelsNewParametersAreRead) {
  born();
  born(kSecond, kBytes, 12);
  captured();
  launched();
  change("cudaGraphExecKernelNodeSetParams", 0xb000 + kGraph);
  p.exec_kernel(kExec, 0xb000 + kGraph, "scale", {7, kSecond});
  died();
  launched();
  died(kSecond, 41);
  launched();
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{"error freed-memory step.cpp:41 grow"}) << text(report);
  EXPECT_EQ(only(report, "freed-memory").details.at("parameter"), "2");
}

TEST_F(BuiltMemory, AChangeIsOneExecutablesAlone) {
  born();
  born(kSecond, kBytes, 12);
  captured();
  p.instantiate(kExec + 1, kGraph);
  change("cudaGraphExecKernelNodeSetParams", 0xb000 + kGraph);
  p.exec_kernel(kExec, 0xb000 + kGraph, "scale", {7, kSecond});
  launched(1, kExec);
  died();
  launched(2, kExec);
  EXPECT_EQ(faults(report()), Faults{});
  TraceBuilder other;
  ProcessBuilder& b = other.process();
  b.malloc(kBytes).out = kBlock;
  b.begin_capture();
  const uint64_t maker = b.launch(kStream).h.seq;
  b.end_capture();
  b.kernel_node(kGraph, kNode, maker, "scale", {kBlock});
  b.instantiate();
  b.instantiate(kExec + 1);
  CallRecord& call = b.call(Family::graph_exec_set, "cudaGraphExecKernelNodeSetParams");
  call.object = kExec;
  call.object2 = kNode;
  b.exec_kernel(kExec, kNode, "scale", {7});
  b.at("step.cpp", 40, "grow");
  b.free().dst = kBlock;
  b.replay(kExec);
  b.replay(kExec + 1);
  b.end();
  const auto report = other.report();
  EXPECT_EQ(faults(report), Faults{"error freed-memory step.cpp:40 grow"}) << text(report);
  EXPECT_EQ(only(report, "freed-memory").details.at("launches"), "1");
}

TEST_F(BuiltMemory, ANodeThatIsSwitchedOffUsesNothingUntilItIsOnAgain) {
  born();
  build();
  launched();
  change("cudaGraphNodeSetEnabled", kNode, 0);
  died();
  launched(2);
  change("cudaGraphNodeSetEnabled", kNode, 1);
  launched();
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{"error freed-memory step.cpp:40 grow"}) << text(report);
  EXPECT_EQ(only(report, "freed-memory").details.at("launches"), "1");
}

TEST_F(BuiltMemory, AChildThatIsSetAnewHoldsTheOtherGraphsMemory) {
  for (const bool old : {true, false}) {
    TraceBuilder other;
    ProcessBuilder& b = other.process();
    constexpr uint64_t kHeld = 0x9200, kNew = 0x9300;
    b.malloc(kBytes).out = kBlock;
    b.malloc(kBytes).out = kSecond;
    b.add_node(kHeld, kNode);
    b.add_node(kGraph, kOther, "cudaGraphAddChildGraphNode");
    b.instantiate();
    b.contents(kGraph, 1);
    b.graph_node(ProcessBuilder::node_of(kGraph, kOther, trace::kChildNode));
    b.link(kGraph, kOther, trace::kChildNode, kHeld);
    b.contents(kHeld, 1);
    b.graph_node(set_of(kBlock, kHeld));
    b.replay();
    b.at("build.cpp", 28, "renew");
    b.add_node(kNew, 0x301);
    CallRecord& call = b.call(Family::graph_exec_set, "cudaGraphExecChildGraphNodeSetParams");
    call.object = kExec;
    call.object2 = kOther;
    call.src = kNew;
    b.contents(kNew, 1);
    b.graph_node(set_of(kSecond, kNew, 0x301));
    b.at("step.cpp", 40, "grow");
    b.free().dst = old ? kBlock : kSecond;
    b.replay();
    b.end();
    const auto report = other.report();
    EXPECT_EQ(faults(report), old ? Faults{} : Faults{"error freed-memory step.cpp:40 grow"}) << text(report);
    for (const auto& gap : report.coverage.not_checked)
      EXPECT_EQ(gap.find("not compared"), std::string::npos) << gap;
  }
}

// With --watch-host: what free() takes.
TEST_F(BuiltMemory, TheDataOfAHostFunctionIsMemoryOfTheHeap) {
  for (const bool freed : {true, false}) {
    TraceBuilder other;
    ProcessBuilder& b = other.process();
    constexpr uint64_t kData = 0x55550000;
    b.at("serve.cpp", 20, "enqueue");
    b.begin_capture();
    CallRecord& call = b.on_stream(Family::host_func, "cudaLaunchHostFunc", kStream);
    call.src = kData;
    const uint64_t maker = call.h.seq;
    b.host_data(trace::BlockOp::born, kData, maker);
    b.end_capture();
    b.made_node(kGraph, kNode, maker);
    auto node = ProcessBuilder::node_of(kGraph, kNode, trace::kHostNode);
    node.src = kData;
    b.graph_node(node);
    b.instantiate();
    b.replay();
    b.at("serve.cpp", 40, "finish");
    if (freed) b.host_data(trace::BlockOp::died, kData, maker);
    b.at("serve.cpp", 50, "serve");
    b.replay();
    b.replay();
    b.end();
    const auto report = other.report();
    EXPECT_EQ(faults(report), freed ? (Faults{"error freed-memory serve.cpp:40 finish",
                                              "warning host-node serve.cpp:20 enqueue"})
                                    : Faults{"warning host-node serve.cpp:20 enqueue"})
        << text(report);
    if (!freed) continue;
    const auto fault = only(report, "freed-memory");
    EXPECT_EQ(
        fault.message,
        "frees memory of the heap that a host function of capture 1 of s1 uses: the graph was launched 2 "
        "times since with that node");
    EXPECT_EQ(fault.details.at("captured at"), "serve.cpp:20");
    EXPECT_EQ(fault.situation, "freed-memory.callback-data");
  }
}

// By a handle that is none of the graph's: which node is meant, the trace does not tell.
TEST_F(BuiltMemory, AnExecutableWhoseChangeIsNotUnderstoodIsNotJudged) {
  born();
  build();
  launched();
  change("cudaGraphExecMemsetNodeSetParams", kOther);
  p.exec_node(set_of(kSecond, kExec, kOther));
  died();
  launched(2);
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{}) << text(report);
  EXPECT_EQ(report.coverage.replay->launches, 1u);
}

}  // namespace
}  // namespace capgate::test
