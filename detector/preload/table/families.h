// What the preloaded library asks of a family beyond the table.
#pragma once

#include "detector/trace/families.h"

namespace capgate::preload {

using trace::Family;
using trace::has_trait;
using trace::is_copy;
using trace::is_load;
using trace::is_memory;
using trace::is_poll;
using trace::is_wait;

// Whether a call nested in another tells something that the outer call's name does not.
constexpr bool nested_tells(Family outer, Family inner) {
  if (outer == inner) return false;
  if (is_load(inner)) return !is_load(outer);
  if (is_wait(inner)) return !is_wait(outer) && outer != Family::memcpy_sync && outer != Family::memset_sync;
  if (is_memory(inner)) return !is_memory(outer);
  if (inner == Family::memcpy_sync) return !is_copy(outer);
  return false;
}

}  // namespace capgate::preload
