#include "base/json/object_keys.h"

#include <algorithm>

namespace capgate {

void ObjectKeys::value(size_t depth) {
  if (depth > 0 && !levels_[depth - 1].object) ++levels_[depth - 1].seen;
}

void ObjectKeys::open(size_t depth, bool object) {
  value(depth);
  if (levels_.size() <= depth) levels_.resize(depth + 1);
  levels_[depth].object = object;
  levels_[depth].seen = 0;
}

size_t ObjectKeys::key(size_t depth, std::string_view name) {
  Level& level = levels_[depth - 1];
  if (level.keys.size() == level.seen) level.keys.emplace_back();
  level.keys[level.seen++] = name;
  return level.seen;
}

std::optional<std::string> ObjectKeys::close_object(size_t depth) const {
  const Level& level = levels_[depth];
  std::vector<std::string_view> sorted(level.keys.begin(),
                                       level.keys.begin() + static_cast<std::ptrdiff_t>(level.seen));
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return std::nullopt;
  const std::string where = path(depth);
  return where + (where.empty() ? "" : ": ") + "the key \"" + std::string(twice->substr(0, 60)) +
         "\" appears twice";
}

std::string ObjectKeys::path(size_t depth) const {
  std::string text;
  for (size_t i = 0; i < depth; ++i) {
    const Level& level = levels_[i];
    if (level.object)
      text += (text.empty() ? "" : ".") + level.keys[level.seen - 1].substr(0, 60);
    else
      text += "[" + std::to_string(level.seen - 1) + "]";
  }
  return text;
}

}  // namespace capgate
