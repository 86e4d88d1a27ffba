// What the families of calls have in common, from their one table, detector/trace/families.def.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "detector/trace/format.h"

namespace capgate::trace {

enum class Watched : uint8_t { never, in_captures, always };

enum FamilyTrait : uint16_t {
  kFrequent = 1 << 0,      // cheap and common: counted and not recorded outside captures, regions and steps
  kOnlyCaptures = 1 << 1,  // what a capture refuses, records or loses; in a step or a region it is as outside
  kUntimed = 1 << 2,       // nobody asks how long it took: reading the clock is what it would cost most
  kState = 1 << 3,         // its success changes what the preloaded library itself does
  kWait = 1 << 4,          // the host stands still until the device is done
  kPoll = 1 << 5,          // the host asks whether the device is done
  kCopy = 1 << 6,          // copies and memsets
  kMemory = 1 << 7,        // device, stream-ordered and pinned memory that comes, goes or is mapped
  kLoad = 1 << 8,          // code comes or goes
  kWork = 1 << 9,          // puts work on a stream
  kUnsafe = 1 << 10,       // forbidden to every thread in global mode while a capture in global mode is open
  kQuiet = 1 << 11,        // between a copy and the wait for it, changes nothing of their being one request
  kEdit = 1 << 12,         // builds or changes a graph node by node: as often as the graph has nodes
};

struct FamilyRow {
  const char* name;
  Watched watched;
  uint16_t traits;
  const char* calls;
};

inline constexpr std::array<FamilyRow, static_cast<size_t>(Family::count)> kFamilies{{
#define CAPGATE_FAMILY(name, watched, traits, calls) {#name, Watched::watched, traits, calls},
#include "detector/trace/families.def"
#undef CAPGATE_FAMILY
}};

// A family that a newer trace has and this program does not know has no trait.
constexpr bool has_trait(Family family, FamilyTrait trait) {
  return family < Family::count && (kFamilies[static_cast<size_t>(family)].traits & trait) != 0;
}

constexpr bool is_wait(Family family) {
  return has_trait(family, kWait);
}

constexpr bool is_poll(Family family) {
  return has_trait(family, kPoll);
}

constexpr bool is_copy(Family family) {
  return has_trait(family, kCopy);
}

constexpr bool is_memory(Family family) {
  return has_trait(family, kMemory);
}

constexpr bool is_load(Family family) {
  return has_trait(family, kLoad);
}

constexpr bool is_work(Family family) {
  return has_trait(family, kWork);
}

}  // namespace capgate::trace
