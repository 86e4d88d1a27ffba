#include "detector/analysis/align/match.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_map>

namespace capgate::analysis {
namespace {

using Pair = std::pair<size_t, size_t>;  // eager, node

constexpr size_t kMostCells = 4 << 20;

// Positions of the keys that come once on both sides, by node.
std::vector<Pair> unique_pairs(const std::vector<Work>& eager, const std::vector<Work>& nodes) {
  struct Seen {
    size_t eager = 0, nodes = 0, at = 0;
  };
  std::unordered_map<uint32_t, Seen> seen;
  for (size_t i = 0; i < eager.size(); ++i) ++seen[eager[i].key].eager, seen[eager[i].key].at = i;
  for (const Work& node : nodes) ++seen[node.key].nodes;
  std::vector<Pair> out;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (const Seen& of = seen[nodes[i].key]; of.eager == 1 && of.nodes == 1) out.emplace_back(of.at, i);
  return out;
}

// Of pairs by node, the most that are in the order of the eager step, too.
std::vector<Pair> longest_in_order(const std::vector<Pair>& pairs) {
  constexpr size_t kNothing = std::numeric_limits<size_t>::max();
  std::vector<size_t> ends, before(pairs.size(), kNothing);  // ends: of the best run of each length
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto at = std::lower_bound(ends.begin(), ends.end(), pairs[i].first,
                                     [&](size_t end, size_t eager) { return pairs[end].first < eager; });
    if (at != ends.begin()) before[i] = *std::prev(at);
    if (at == ends.end())
      ends.push_back(i);
    else
      *at = i;
  }
  std::vector<Pair> out;
  for (size_t i = ends.empty() ? kNothing : ends.back(); i != kNothing; i = before[i])
    out.push_back(pairs[i]);
  std::reverse(out.begin(), out.end());
  return out;
}

class Matcher {
 public:
  Matcher(const std::vector<Work>& eager, const std::vector<Work>& nodes, const Alike& alike)
      : eager_(eager), nodes_(nodes), alike_(alike) {
    out_.eager_of.resize(nodes.size());
  }

  Matching run() {
    const auto unique = unique_pairs(eager_, nodes_);
    const auto anchors = longest_in_order(unique);
    Pair from{0, 0};
    for (const Pair& anchor : anchors) {
      between(from, anchor);
      take(anchor.first, anchor.second);
      from = {anchor.first + 1, anchor.second + 1};
    }
    between(from, {eager_.size(), nodes_.size()});
    // What is left of the unique ones lies elsewhere in the eager step.
    for (const Pair& pair : unique)
      if (!out_.eager_of[pair.second]) cross(pair, anchors);
    return std::move(out_);
  }

 private:
  void take(size_t eager, size_t node) {
    out_.eager_of[node] = eager;
    ++out_.matched;
  }

  void cross(const Pair& pair, const std::vector<Pair>& anchors) {
    take(pair.first, pair.second);
    for (const Pair& other : anchors)
      if ((other.first < pair.first) != (other.second < pair.second))
        out_.crossing.emplace_back(std::min(pair.second, other.second), std::max(pair.second, other.second));
  }

  bool are_equal(const Pair& from, const Pair& to) const {
    return to.first - from.first == to.second - from.second &&
           std::equal(eager_.begin() + static_cast<std::ptrdiff_t>(from.first),
                      eager_.begin() + static_cast<std::ptrdiff_t>(to.first),
                      nodes_.begin() + static_cast<std::ptrdiff_t>(from.second),
                      [](const Work& a, const Work& b) { return a.key == b.key; });
  }

  void between(const Pair& from, const Pair& to) {
    const size_t rows = to.first - from.first, columns = to.second - from.second;
    if (rows == 0 || columns == 0) return;
    if (are_equal(from, to)) {
      for (size_t i = 0; i < rows; ++i) take(from.first + i, from.second + i);
      return;
    }
    if ((rows + 1) * (columns + 1) > kMostCells) {
      in_sequence(from, to);
      return;
    }
    // best[i][j]: of what lies behind i and j.
    std::vector<int32_t> best((rows + 1) * (columns + 1), 0);
    const auto at = [&](size_t i, size_t j) -> int32_t& { return best[i * (columns + 1) + j]; };
    const auto worth = [&](size_t i, size_t j) {
      constexpr int32_t kMatch = 1000;
      const Work &a = eager_[from.first + i], &b = nodes_[from.second + j];
      return a.key == b.key ? kMatch + alike_(a, b) : 0;
    };
    for (size_t i = rows; i-- > 0;)
      for (size_t j = columns; j-- > 0;) {
        at(i, j) = std::max(at(i + 1, j), at(i, j + 1));
        if (const int32_t value = worth(i, j)) at(i, j) = std::max(at(i, j), at(i + 1, j + 1) + value);
      }
    for (size_t i = 0, j = 0; i < rows && j < columns;) {
      const int32_t value = worth(i, j);
      if (value && at(i, j) == at(i + 1, j + 1) + value)
        take(from.first + i++, from.second + j++);
      else
        ++(at(i, j) == at(i + 1, j) ? i : j);
    }
  }

  // Too much for the table: each node takes the next call of its kind.
  void in_sequence(const Pair& from, const Pair& to) {
    size_t i = from.first;
    for (size_t j = from.second; j < to.second; ++j) {
      size_t next = i;
      while (next < to.first && eager_[next].key != nodes_[j].key) ++next;
      if (next == to.first) continue;
      take(next, j);
      i = next + 1;
    }
  }

  const std::vector<Work>&eager_, &nodes_;
  const Alike& alike_;
  Matching out_;
};

}  // namespace

Matching match(const std::vector<Work>& eager, const std::vector<Work>& nodes, const Alike& alike) {
  return Matcher(eager, nodes, alike).run();
}

}  // namespace capgate::analysis
