// Which call of an eager step does what which node of a graph does.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "detector/analysis/align/work.h"

namespace capgate::analysis {

struct Matching {
  std::vector<std::optional<size_t>> eager_of;  // by node
  std::vector<std::pair<size_t, size_t>>
      crossing;  // pairs of nodes that the eager step does in the other order
  size_t matched = 0;
};

// How much two with one key have in common besides: 0 to 100.
using Alike = std::function<int(const Work& eager, const Work& node)>;

// Work that comes once on both sides is matched first, then what lies between two such matches, by the
// longest common subsequence; of several, the one whose pairs are most alike.
Matching match(const std::vector<Work>& eager, const std::vector<Work>& nodes, const Alike& alike);

}  // namespace capgate::analysis
