// Which nodes of a report's graphs a call made: a finding about that call is a finding about those nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "detector/analysis/graph_nodes.h"
#include "detector/analysis/timeline.h"

namespace capgate::analysis {

class MadeNodes {
 public:
  explicit MadeNodes(const Timeline& timeline);

  // A capture's id and a node's, as list_captures() numbers them.
  using Made = std::vector<std::pair<std::string, uint64_t>>;
  const Made& by(size_t call) const;

 private:
  std::unordered_map<size_t, Made> made_;
};

}  // namespace capgate::analysis
