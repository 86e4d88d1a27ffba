// The work of a step, by what it is and not by its values: kernels, copies, memsets and host functions, as an
// eager step calls them and as a graph holds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "detector/analysis/graph_nodes.h"
#include "detector/analysis/timeline.h"

namespace capgate::analysis {

struct Work {
  uint32_t key = 0;                                // equal for the same work, see WorkKeys
  const trace::GraphNodeRecord* record = nullptr;  // the node, or the launch; null: the call is all there is
  std::optional<size_t> call;                      // that does it, or that made the node
};

// Sizes, addresses and values are no part of a key: they are what is compared.
class WorkKeys {
 public:
  explicit WorkKeys(const Timeline& timeline);

  // Nothing for calls and nodes that do no work on the device, that a capture refuses, or that allocate; and
  // for calls that failed, unless they are asked for.
  std::optional<Work> of_call(size_t call, bool failed_too = false);
  std::optional<Work> of_node(const trace::GraphNodeRecord& node, std::optional<size_t> maker);

  // Of a version of an executable, in the order in which its calls were made.
  std::vector<Work> of_graph(const GraphNodes& nodes, const ExecVersion& version);
  std::vector<Work> of_capture(const GraphNodes& nodes, const Capture& capture);

  // As a sentence names it: "kernel attend", "a copy from host to device", "a memset".
  std::string name(const Work& work) const;

 private:
  uint32_t number(const std::string& key);
  void in_order_of_calls(std::vector<Work>& work) const;

  const Timeline& timeline_;
  std::unordered_map<uint64_t, const trace::GraphNodeRecord*> launches_;  // by their call's seq
  std::map<std::string, uint32_t> numbers_;
  std::vector<std::string> keys_;
};

// The symbol of a kernel; empty for other work.
std::string_view kernel_symbol(const Timeline& timeline, const Work& work);

}  // namespace capgate::analysis
