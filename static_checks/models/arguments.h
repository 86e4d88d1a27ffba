// The arguments of a modelled call by the positions that the tables of sources give.
#pragma once

#include <cstddef>

namespace capgate::lint {

// Null: there is no such argument.
template <class List>
auto* at_position(List& list, int position) {
  return position >= 0 && static_cast<size_t>(position) < list.size() ? &list[static_cast<size_t>(position)]
                                                                      : nullptr;
}

}  // namespace capgate::lint
