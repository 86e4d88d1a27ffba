// The keys of the objects of a JSON text, followed while it is parsed. A key that appears twice in one object
// is refused: readers differ in which of the two counts, so that one text could be two.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace capgate {

class ObjectKeys {
 public:
  // A value, an object or a list begins with so many objects and lists around it.
  void value(size_t depth);
  void open(size_t depth, bool object);
  // A key of the object with depth - 1 around it. Its number in the object, from 1.
  size_t key(size_t depth, std::string_view name);
  // The object ends. Its path and the key that appears twice in it: `coverage: the key "kind" appears twice`.
  std::optional<std::string> close_object(size_t depth) const;

 private:
  struct Level {
    bool object = false;
    size_t seen = 0;                // keys of the object, items of the list
    std::vector<std::string> keys;  // the first `seen` count: a level is used again by its neighbour
  };
  std::string path(size_t depth) const;

  std::vector<Level> levels_;
};

}  // namespace capgate
