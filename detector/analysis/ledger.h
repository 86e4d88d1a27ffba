// Follows memory and graphs through a run: at each launch, whether what the graph refers to is still what it
// was when the graph was made.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "detector/analysis/blocks.h"
#include "detector/analysis/timeline.h"

namespace capgate::analysis {

// An address that a graph keeps.
// word: eight bytes inside a structure that is a kernel's parameter. They may be what was on the stack
// before, unless they are known to be a pointer: see struct_words.h.
enum class Use : uint8_t { reads, writes, sets, parameter, code, callback, frees, word };

struct Held {
  uint64_t address = 0;
  uint64_t seq = 0;  // since when the node has it, as far as that is known
  const trace::GraphNodeRecord* node = nullptr;
  uint64_t outer = 0;       // the outermost graph's node that holds it; 0: it is that graph's own
  size_t maker = 0;         // the call that made the node, or the nearest one that is known
  int32_t capture = kNone;  // that made it
  bool edited = false;      // that call gave the node of an executable new parameters
  Use use = Use::parameter;
  uint32_t parameter = 0, word = 0;  // of a kernel
};

enum class Fate : uint8_t {
  gone,           // nobody owns the address
  another_owner,  // another base, size or line of birth
  back            // the same base, size and line of birth again
};

// A graph's use of a block that has died.
struct LostMemory {
  Held held;         // the first use of the block
  size_t nodes = 0;  // that use it
  BlockId block = 0;
  Fate fate = Fate::gone;
  std::optional<BlockId> now;    // what lies there
  std::optional<size_t> launch;  // the first one after the death; none: no launch since
  uint64_t launches = 0;         // since the death
};

struct MemoryLedger {
  Blocks blocks;
  std::vector<LostMemory> lost;
  uint64_t graphs = 0;    // that were launched and whose memory was followed
  uint64_t launches = 0;  // of those
  bool thinned = false;   // some allocations or frees were only counted: nothing is judged
};

// Equal for moments at the same line; empty where that is not known.
using SiteOf = std::function<std::string(const Moment& moment)>;

MemoryLedger follow_memory(const Timeline& timeline, const SiteOf& site);

}  // namespace capgate::analysis
