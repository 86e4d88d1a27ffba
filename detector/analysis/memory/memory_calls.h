// What one call does to memory that somebody owns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "detector/analysis/blocks.h"
#include "detector/analysis/timeline.h"

namespace capgate::analysis {

// Handles of CUDA arrays are no addresses: they get a part of the address space that no memory has.
uint64_t array_address(uint64_t handle);
// And so do those of modules.
uint64_t code_address(uint64_t module);

// The block that the call brought; nothing for one that failed, or whose product is not memory by itself.
std::optional<Block> block_born(const Timeline& timeline, size_t call);

enum class Ends : uint8_t { nothing, block, range, module, device };

struct End {
  Ends what = Ends::nothing;
  uint64_t start = 0, bytes = 0;  // of a block (its start alone) or a range
  uint64_t module = 0;
  int32_t device = trace::kNoDevice;
};

Moment moment_of_end(const Timeline& timeline, size_t call);
End memory_ended(const Timeline& timeline, size_t call);

}  // namespace capgate::analysis
