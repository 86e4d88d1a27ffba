// What the families of calls have in common, told once for the library that records them and for the rules
// that judge them.
#pragma once

#include "detector/trace/format.h"

namespace capgate::trace {

// The host stands still until the device is done.
constexpr bool is_wait(Family family) {
  return family == Family::stream_sync || family == Family::event_sync || family == Family::device_sync;
}

constexpr bool is_poll(Family family) {
  return family == Family::stream_query || family == Family::event_query;
}

// Device, stream-ordered and pinned memory that comes, goes or is mapped.
constexpr bool is_memory(Family family) {
  switch (family) {
    case Family::alloc_device:
    case Family::free_device:
    case Family::alloc_async:
    case Family::free_async:
    case Family::alloc_host:
    case Family::free_host:
    case Family::host_register:
    case Family::host_unregister:
    case Family::vmm:
      return true;
    default:
      return false;
  }
}

}  // namespace capgate::trace
