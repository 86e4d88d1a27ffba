// Graphs, the executables made of them, and their launches.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "detector/analysis/graph_windows.h"
#include "detector/analysis/timeline.h"

namespace capgate::analysis {

class GraphReplays {
 public:
  explicit GraphReplays(Timeline& out);

  void captured(int32_t capture);  // it ended
  void node(const trace::NodeRecord& node);
  void clone(const trace::NodeCloneRecord& clone);
  void graph(const trace::Object& object);
  void exec(const trace::Object& object);
  void instantiate(size_t index);
  void update(size_t index);
  void edit(size_t index);
  void destroy(const Call& call);
  void launch(size_t index);

 private:
  using Captures = std::vector<int32_t>;

  Executable& add(uint64_t exec, uint64_t seq);
  Executable* known(uint64_t exec);
  ExecVersion version_of(uint64_t graph, uint64_t seq) const;
  void captures_in(uint64_t graph, uint64_t as_of, int depth, Captures& out) const;

  Timeline& out_;
  GraphWindows windows_;
  std::unordered_map<uint64_t, Captures> graphs_;       // whose work they hold
  std::unordered_map<uint64_t, uint64_t> node_graphs_;  // node -> the graph that it was made in
  std::unordered_map<uint64_t, size_t> execs_;          // handle -> index of the one that lives
  std::unordered_map<uint64_t, std::vector<const trace::GraphLinkRecord*>> links_;  // by graph
  std::unordered_map<uint64_t, std::vector<const trace::GraphNodeRecord*>> edits_;  // by executable
};

}  // namespace capgate::analysis
