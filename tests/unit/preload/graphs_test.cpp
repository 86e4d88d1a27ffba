// What the trace holds of graphs: those that are built node by node, those within others, and what an
// executable is given later.
#include <gtest/gtest.h>

#include <map>

#include "tests/unit/preload/audited.h"

namespace capgate::test {
namespace {

using trace::GraphNodeRecord;
using trace::RecordType;

constexpr uint32_t kCopy = 1, kChild = 4, kConditional = 13;

std::map<uint64_t, uint64_t> call_of_node(const RecordedTrace& trace) {
  std::map<uint64_t, uint64_t> made;
  for (const auto& [node, tid] : trace.process.nodes) made[node.node] = node.call_seq;
  return made;
}

TEST(Graphs, ABuiltGraphIsWrittenWhenItIsInstantiated) {
  const Audited run = run_audited("builds_a_graph");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto& trace = run.only();
  const auto contents = trace.process.graph_contents;
  const auto instantiated = calls(trace, "cudaGraphInstantiate");
  ASSERT_EQ(instantiated.size(), 3u);
  // Between the first and the second nothing changed.
  ASSERT_EQ(contents.size(), 2u);
  EXPECT_EQ(contents[0].r.call_seq, instantiated[0].h.seq);
  EXPECT_EQ(contents[0].r.nodes, 2u);
  EXPECT_EQ(contents[0].r.edges, 1u);
  EXPECT_EQ(contents[0].r.truncated, 0u);
  EXPECT_EQ(contents[1].r.call_seq, instantiated[2].h.seq);
  EXPECT_EQ(contents[1].r.nodes, 3u);
  for (const auto& record : contents) EXPECT_EQ(record.r.graph, instantiated[0].object2);

  ASSERT_EQ(trace.process.graph_nodes.size(), 5u);
  const auto& copy = trace.process.graph_nodes[0].r;
  EXPECT_EQ(copy.kind, kCopy);
  EXPECT_EQ(copy.bytes, 64u);
  EXPECT_EQ(copy.dst_memory, uint8_t(trace::Memory::device));
  EXPECT_EQ(copy.src_memory, uint8_t(trace::Memory::pageable));
  EXPECT_EQ(copy.src_place, uint8_t(trace::HostPlace::heap));
  const auto added = calls(trace, "cudaGraphAddMemcpyNode1D");
  ASSERT_EQ(added.size(), 2u);
  EXPECT_NE(added[0].stack, 0u);
  EXPECT_EQ(added[0].object, instantiated[0].object2);
  EXPECT_EQ(added[0].out, copy.node);
  EXPECT_EQ(call_of_node(trace)[copy.node], added[0].h.seq);
}

TEST(Graphs, ArgumentsThatWereGivenAsOneBlockAreKept) {
  const Audited run = run_audited("builds_a_graph");
  const trace::RawFile& file = run.only().file;
  size_t kernels = 0;
  for (const auto& record : file.records) {
    GraphNodeRecord node{};
    std::memcpy(&node, file.bytes.data() + record.offset, std::min<size_t>(record.bytes, sizeof node));
    if (RecordType(node.h.type) != RecordType::graph_node || node.kind != 0) continue;
    ++kernels;
    ASSERT_EQ(node.param_bytes, 16u);
    ASSERT_EQ(node.param_count, 2u);
    ASSERT_TRUE(node.param_layout & trace::kParamsPlaced);
    uint64_t pointer = 0;
    uint32_t count = 0;
    const auto* bytes = file.bytes.data() + record.offset + sizeof node + 2 * 8;
    std::memcpy(&pointer, bytes, 8);
    std::memcpy(&count, bytes + 8, 4);
    EXPECT_EQ(pointer, 0xfeedu);
    EXPECT_EQ(count, 77u);
  }
  EXPECT_EQ(kernels, 2u);
}

TEST(Graphs, GraphsWithinAGraphAreWrittenWithIt) {
  const Audited run = run_audited("nests_graphs");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto& trace = run.only();
  const auto instantiated = calls(trace, "cudaGraphInstantiate");
  ASSERT_EQ(instantiated.size(), 1u);
  ASSERT_EQ(trace.process.graph_contents.size(), 3u);
  for (const auto& contents : trace.process.graph_contents)
    EXPECT_EQ(contents.r.call_seq, instantiated[0].h.seq);
  std::map<uint32_t, uint64_t> child_by_kind;
  for (const auto& [link, tid] : trace.process.graph_links) {
    EXPECT_EQ(link.graph, instantiated[0].object2);
    child_by_kind[link.kind] = link.child;
  }
  ASSERT_EQ(child_by_kind.size(), 2u);
  std::map<uint64_t, uint64_t> bytes_by_graph;
  for (const auto& [node, tid] : trace.process.graph_nodes)
    if (node.kind == kCopy) bytes_by_graph[node.graph] = node.bytes;
  EXPECT_EQ(bytes_by_graph[child_by_kind[kChild]], 16u);
  EXPECT_EQ(bytes_by_graph[child_by_kind[kConditional]], 24u);
}

TEST(Graphs, NewParametersOfAnExecutablesNodeAreKept) {
  const Audited run = run_audited("changes_an_executable");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto& trace = run.only();
  ASSERT_EQ(trace.process.exec_nodes.size(), 1u);
  const auto& node = trace.process.exec_nodes[0].r;
  const auto set = calls(trace, "cudaGraphExecMemcpyNodeSetParams1D");
  ASSERT_EQ(set.size(), 1u);
  EXPECT_EQ(node.graph, set[0].object);
  EXPECT_EQ(node.node, set[0].object2);
  EXPECT_EQ(node.bytes, 48u);
  EXPECT_EQ(node.src_place, uint8_t(trace::HostPlace::heap));
  EXPECT_GT(node.h.seq, set[0].h.seq);
  EXPECT_LT(node.h.seq, set[0].seq_end);
  EXPECT_EQ(trace.process.graph_contents.size(), 1u) << "the graph itself did not change";
}

TEST(Graphs, TheGraphThatAChildTakesItsParametersFromIsKept) {
  const Audited run = run_audited("changes_a_child");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto& trace = run.only();
  const auto set = calls(trace, "cudaGraphExecChildGraphNodeSetParams");
  ASSERT_EQ(set.size(), 1u);
  const auto& contents = trace.process.graph_contents;
  ASSERT_EQ(contents.size(), 3u);
  EXPECT_EQ(contents[2].r.call_seq, set[0].h.seq);
  EXPECT_EQ(contents[2].r.graph, set[0].src);
  EXPECT_EQ(trace.process.graph_nodes.back().r.graph, set[0].src);
  EXPECT_EQ(trace.process.graph_nodes.back().r.bytes, 40u);
  const auto enabled = calls(trace, "cudaGraphNodeSetEnabled");
  ASSERT_EQ(enabled.size(), 2u);
  EXPECT_EQ(enabled[0].object2, set[0].object2);
  EXPECT_EQ(enabled[0].arg, 0u);
  EXPECT_EQ(enabled[1].arg, 1u);
}

TEST(Graphs, ARefusalNamesTheNodeThatCudaBlames) {
  const Audited run = run_audited("refused_graphs");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto& trace = run.only();
  const auto added = calls(trace, "cudaGraphAddMemcpyNode1D");
  ASSERT_EQ(added.size(), 2u);
  const auto instantiated = calls(trace, "cudaGraphInstantiateWithParams");
  ASSERT_EQ(instantiated.size(), 1u);
  EXPECT_EQ(instantiated[0].result, 1);
  EXPECT_EQ(instantiated[0].dst, added[1].out);
  EXPECT_EQ(instantiated[0].bytes, uint64_t(3));  // cudaGraphInstantiateNodeOperationNotSupported
  const auto updated = calls(trace, "cudaGraphExecUpdate");
  ASSERT_EQ(updated.size(), 1u);
  EXPECT_EQ(updated[0].result, 910);
  EXPECT_EQ(updated[0].dst, added[0].out);
  EXPECT_EQ(updated[0].src, added[1].out);
  EXPECT_EQ(updated[0].bytes, uint64_t(2));  // cudaGraphExecUpdateErrorTopologyChanged
  // The graph that CUDA would not take is in the trace.
  EXPECT_EQ(trace.process.graph_contents.size(), 1u);
}

}  // namespace
}  // namespace capgate::test
