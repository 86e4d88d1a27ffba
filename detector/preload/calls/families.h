// How the families of calls are treated.
#pragma once

#include "detector/trace/families.h"

namespace capgate::preload {

using trace::Family;
using trace::is_memory;
using trace::is_poll;
using trace::is_wait;

// Cheap and frequent: outside captures, regions and steps they are counted, not recorded.
constexpr bool is_frequent(Family family) {
  switch (family) {
    case Family::stream_sync:
    case Family::event_sync:
    case Family::device_sync:
    case Family::stream_query:
    case Family::event_query:
    case Family::memcpy_sync:
    case Family::memcpy_async:
    case Family::memset_sync:
    case Family::memset_async:
    case Family::launch:
    case Family::host_func:
    case Family::symbol_load:
    case Family::prefetch:
    case Family::mem_pool:
    case Family::stream_memop:
    case Family::external:
    case Family::event_elapsed:
    case Family::event_destroy:
    case Family::device_control:
    case Family::capture_mode:
      return true;
    default:
      return false;
  }
}

// What a capture refuses, records or loses, and a marked eager step need not know.
constexpr bool only_in_captures(Family family) {
  switch (family) {
    case Family::launch:
    case Family::symbol_load:
    case Family::prefetch:
    case Family::mem_pool:
    case Family::stream_memop:
    case Family::external:
    case Family::event_elapsed:
    case Family::event_destroy:
    case Family::profiler:
      return true;
    default:
      return false;
  }
}

constexpr bool is_copy(Family family) {
  return family == Family::memcpy_sync || family == Family::memcpy_async || family == Family::memset_sync ||
         family == Family::memset_async;
}

// Calls whose success the library itself acts upon.
constexpr bool changes_state(Family family) {
  return family == Family::capture_begin || family == Family::capture_end || family == Family::capture_mode ||
         family == Family::graph_launch || family == Family::stream_destroy;
}

// Calls whose duration nobody asks for: reading the clock is what they would cost most.
constexpr bool is_untimed(Family family) {
  return family == Family::launch || family == Family::event_record || family == Family::stream_wait ||
         family == Family::capture_mode || is_poll(family);
}

constexpr bool is_load(Family family) {
  return family == Family::module_load || family == Family::module_unload;
}

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
