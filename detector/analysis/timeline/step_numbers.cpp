#include <map>
#include <string_view>
#include <utility>

#include "detector/analysis/timeline/marks.h"

namespace capgate::analysis {
namespace {

std::vector<uint64_t> numbers_in(std::string_view name, std::string& shape) {
  std::vector<uint64_t> numbers;
  for (size_t i = 0; i < name.size();) {
    if (name[i] < '0' || name[i] > '9') {
      shape += name[i++];
      continue;
    }
    uint64_t value = 0;
    for (; i < name.size() && name[i] >= '0' && name[i] <= '9'; ++i)
      value = value * 10 + static_cast<uint64_t>(name[i] - '0');
    numbers.push_back(value);
    shape += '#';
  }
  return numbers;
}

}  // namespace

// "decode 17", "decode 18": the step is counted in its name, and each name comes once. Numbers that do not
// count up by one are part of what the step is ("bs=8", "layer 3" of every step).
void number_steps(std::vector<RegionOccurrence>& regions) {
  struct Counted {
    std::vector<size_t> passes;
    std::vector<uint64_t> last;
    bool counts = true;
  };
  std::map<std::pair<uint32_t, std::string>, Counted> shapes;
  for (size_t i = 0; i < regions.size(); ++i) {
    std::string shape;
    const auto numbers = numbers_in(regions[i].name, shape);
    if (numbers.empty()) continue;
    Counted& seen = shapes[{regions[i].tid, shape}];
    if (!seen.passes.empty()) {
      bool moved = false, other = false;
      for (size_t n = 0; n < numbers.size(); ++n) {
        moved = moved || numbers[n] == seen.last[n] + 1;
        other = other || (numbers[n] != seen.last[n] && numbers[n] != seen.last[n] + 1);
      }
      seen.counts = seen.counts && moved && !other;
    }
    seen.last = numbers;
    seen.passes.push_back(i);
  }
  for (const auto& [key, seen] : shapes)
    if (seen.counts && seen.passes.size() > 1)
      for (const size_t pass : seen.passes) regions[pass].name = key.second;
  std::map<std::pair<uint32_t, std::string>, uint32_t> numbers;
  for (auto& region : regions) region.number = numbers[{region.tid, region.name}]++;
}

}  // namespace capgate::analysis
