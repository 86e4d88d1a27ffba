#include "detector/preload/cuda/graph_dump.h"

#include "detector/preload/cuda/driver_api.h"
#include "detector/preload/cuda/known_graphs.h"
#include "detector/preload/cuda/node_params.h"
#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/counters.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

// Beyond these a graph is cut: its record keeps the real numbers and says how many nodes came without
// parameters.
constexpr size_t kMaxNodes = 20000;
constexpr size_t kMaxEdges = 60000;
// Of graphs that are written when an executable is made: a program may change and instantiate one all its
// life.
constexpr uint64_t kMaxNodesOfProcess = 400000;
constexpr int kMaxDepth = 8;
std::atomic<uint64_t> g_written_nodes{0};

// Memory for one dump.
template <class T>
class Buffer {
 public:
  explicit Buffer(size_t count)
      // NOLINTNEXTLINE(bugprone-sizeof-expression): a node is a pointer, and pointers are what is kept
      : bytes_(count * sizeof(T)), data_(bytes_ != 0 ? static_cast<T*>(map_memory(bytes_)) : nullptr) {}
  ~Buffer() {
    if (data_ != nullptr) munmap(static_cast<void*>(data_), bytes_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* data() { return data_; }

 private:
  size_t bytes_;
  T* data_;
};

// Relaxed while it lives: asking for parameters may load a kernel, which a capture in another mode forbids.
class RelaxedMode {
 public:
  RelaxedMode()
      : pushed_(g_driver.exchange_mode != nullptr && g_driver.exchange_mode(&mode_) == CUDA_SUCCESS) {}
  ~RelaxedMode() {
    if (pushed_) g_driver.exchange_mode(&mode_);
  }
  RelaxedMode(const RelaxedMode&) = delete;
  RelaxedMode& operator=(const RelaxedMode&) = delete;
  bool pushed() const { return pushed_; }

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  bool pushed_;
};

uint64_t number(CUgraph graph) {
  return reinterpret_cast<uint64_t>(graph);
}

bool holds_graphs(CUgraphNodeType kind) {
  return kind == CU_GRAPH_NODE_TYPE_GRAPH || kind == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

void write_link(ThreadState& thread, CUgraph graph, CUgraphNode node, CUgraphNodeType kind, uint64_t child,
                uint32_t index) {
  auto* record = reserve<trace::GraphLinkRecord>(thread);
  if (record == nullptr) return;
  record->graph = number(graph);
  record->node = reinterpret_cast<uint64_t>(node);
  record->child = child;
  record->kind = kind;
  record->index = index;
  commit_record(thread, record, trace::RecordType::graph_link, sizeof(*record));
}

bool child_of(CUgraphNode node, CUgraphNodeType kind, uint32_t index, uint64_t* child) {
  if (kind == CU_GRAPH_NODE_TYPE_CONDITIONAL) return body_of(reinterpret_cast<uint64_t>(node), index, child);
  CUgraph graph = nullptr;
  if (index != 0 || g_driver.child_graph == nullptr || g_driver.child_graph(node, &graph) != CUDA_SUCCESS)
    return false;
  *child = number(graph);
  return true;
}

struct Written {
  uint32_t cut;       // nodes left out or without parameters
  bool has_children;  // nodes that hold other graphs
};

Written write_nodes(ThreadState& thread, CUgraph graph, size_t count, bool with_params) {
  Buffer<CUgraphNode> nodes(count);
  size_t got = count;
  if (nodes.data() == nullptr || g_driver.graph_nodes(graph, nodes.data(), &got) != CUDA_SUCCESS)
    return {uint32_t(count), true};
  Written written{};
  for (size_t i = 0; i < got; ++i) {
    if (i >= kMaxNodes || trace_is_filling()) {
      written.cut += uint32_t(got - i);
      return written;
    }
    const CUgraphNode node = nodes.data()[i];
    CUgraphNodeType kind = CU_GRAPH_NODE_TYPE_EMPTY;
    if (g_driver.node_type == nullptr || g_driver.node_type(node, &kind) != CUDA_SUCCESS) continue;
    if (write_node(thread, {trace::RecordType::graph_node, number(graph)}, node, kind, with_params))
      ++written.cut;
    if (!holds_graphs(kind)) continue;
    written.has_children = true;
    uint64_t child = 0;
    for (uint32_t index = 0; child_of(node, kind, index, &child); ++index)
      write_link(thread, graph, node, kind, child, index);
  }
  return written;
}

bool get_edges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  if (g_driver.graph_edges_with_data != nullptr) {
    // Edges of programmatic launches carry data, without a place for which the query is refused as lossy.
    Buffer<CUgraphEdgeData> data(from != nullptr ? *count : 0);
    if (from != nullptr && data.data() == nullptr) return false;
    return g_driver.graph_edges_with_data(graph, from, to, data.data(), count) == CUDA_SUCCESS;
  }
  return g_driver.graph_edges != nullptr && g_driver.graph_edges(graph, from, to, count) == CUDA_SUCCESS;
}

void write_edges(ThreadState& thread, CUgraph graph, size_t count) {
  if (count == 0 || count > kMaxEdges) return;
  Buffer<CUgraphNode> from(count), to(count);
  if (from.data() == nullptr || to.data() == nullptr || !get_edges(graph, from.data(), to.data(), &count))
    return;
  for (size_t i = 0; i < count; ++i) {
    auto* record = reserve<trace::GraphEdgeRecord>(thread);
    if (record == nullptr) return;
    record->graph = reinterpret_cast<uint64_t>(graph);
    record->from = reinterpret_cast<uint64_t>(from.data()[i]);
    record->to = reinterpret_cast<uint64_t>(to.data()[i]);
    commit_record(thread, record, trace::RecordType::graph_edge, sizeof(*record));
  }
}

struct Size {
  size_t nodes, edges;
};

Size size_of(CUgraph graph) {
  Size size{};
  if (graph == nullptr || g_driver.graph_nodes == nullptr) return size;
  g_driver.graph_nodes(graph, nullptr, &size.nodes);
  get_edges(graph, nullptr, nullptr, &size.edges);
  return size;
}

Written write_body(ThreadState& thread, CUgraph graph, const Size& size, bool with_params) {
  const Written written = write_nodes(thread, graph, size.nodes, with_params);
  write_edges(thread, graph, size.edges);
  graph_written(number(graph), written.has_children);
  return written;
}

void write_children(ThreadState& thread, CUgraph graph, uint64_t call_seq, int depth);

void write_changed(ThreadState& thread, CUgraph graph, uint64_t call_seq, int depth) {
  const KnownGraph known = known_graph(number(graph));
  bool has_children = known.has_children;
  if (!known.written) {
    const Size size = size_of(graph);
    const uint64_t before = g_written_nodes.fetch_add(size.nodes, std::memory_order_relaxed);
    if (before > kMaxNodesOfProcess || trace_is_filling()) {
      count(thread, "thinned:graph");
      return;
    }
    auto* record = reserve<trace::GraphContentsRecord>(thread);
    if (record == nullptr) return;
    record->graph = number(graph);
    record->call_seq = call_seq;
    record->nodes = size.nodes;
    record->edges = size.edges;
    commit_record(thread, record, trace::RecordType::graph_contents, sizeof(*record));
    const RelaxedMode relaxed;
    const Written written = write_body(thread, graph, size, relaxed.pushed());
    record->truncated = written.cut;
    has_children = written.has_children;
  }
  if (has_children && depth < kMaxDepth) write_children(thread, graph, call_seq, depth + 1);
}

void write_children(ThreadState& thread, CUgraph graph, uint64_t call_seq, int depth) {
  size_t count = 0;
  if (g_driver.graph_nodes == nullptr || g_driver.graph_nodes(graph, nullptr, &count) != CUDA_SUCCESS) return;
  if (count > kMaxNodes) count = kMaxNodes;
  Buffer<CUgraphNode> nodes(count);
  if (count == 0 || nodes.data() == nullptr ||
      g_driver.graph_nodes(graph, nodes.data(), &count) != CUDA_SUCCESS)
    return;
  for (size_t i = 0; i < count; ++i) {
    CUgraphNodeType kind = CU_GRAPH_NODE_TYPE_EMPTY;
    if (g_driver.node_type == nullptr || g_driver.node_type(nodes.data()[i], &kind) != CUDA_SUCCESS ||
        !holds_graphs(kind))
      continue;
    uint64_t child = 0;
    for (uint32_t index = 0; child_of(nodes.data()[i], kind, index, &child); ++index)
      write_changed(thread, reinterpret_cast<CUgraph>(child), call_seq, depth);
  }
}

}  // namespace

void write_capture(ThreadState& thread, const OpenCapture& capture, uint64_t end_seq, uint64_t graph,
                   int32_t result) {
  auto handle = reinterpret_cast<CUgraph>(graph);
  const Size size = size_of(handle);
  auto* record = reserve<trace::CaptureRecord>(thread);
  if (record == nullptr) return;
  record->begin_seq = capture.begin_seq;
  record->end_seq = end_seq;
  record->capture_id = capture.id;
  record->stream = capture.stream;
  record->graph = graph;
  record->nodes = size.nodes;
  record->edges = size.edges;
  record->result = result;
  commit_record(thread, record, trace::RecordType::capture, sizeof(*record));
  if (size.nodes == 0) return;
  const RelaxedMode relaxed;
  record->truncated = write_body(thread, handle, size, relaxed.pushed()).cut;
}

void write_graph(ThreadState& thread, uint64_t graph, uint64_t call_seq) {
  if (graph != 0) write_changed(thread, reinterpret_cast<CUgraph>(graph), call_seq, 0);
}

namespace {
void forget_in_child() {
  g_written_nodes.store(0);
}
}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

}  // namespace capgate::preload
