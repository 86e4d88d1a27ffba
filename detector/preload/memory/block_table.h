// The blocks that live, and those whose death is in the trace, by their first byte. Room for each is taken
// when it is first needed; there is no allocation after that.
#pragma once

#include <stdint.h>

#include "detector/preload/memory/pool_blocks.h"

namespace capgate::preload {

struct KnownBlock {
  PoolBlock block;
  uint64_t born_seq;
  uint32_t stack, python_stack;
  uint32_t unwritten;  // its place in the list of those, one more than the index; 0: it is written
  bool dead;           // written, and its death is too
};

// For one thread at a time.
class BlockTable {
 public:
  static constexpr uint32_t kMost = 1u << 18;

  KnownBlock* find(uint64_t start);
  // A new one, which must not be there yet: unwritten, alive. Null: there is no room.
  KnownBlock* add(uint64_t start);
  void remove(KnownBlock& known);
  void mark_written(KnownBlock& known);
  // Any of those that are not written yet, null when there is none.
  KnownBlock* unwritten();
  void forget();

 private:
  static constexpr uint32_t kSlots = kMost * 2;

  bool make_room();
  uint32_t home(uint64_t start) const;
  uint32_t slot_of(uint64_t start) const;  // where it is, or the free one where it belongs
  void take_from_unwritten(KnownBlock& known);

  KnownBlock* known_ = nullptr;
  uint32_t* slots_ = nullptr;      // index + 1 into known_, 0 free
  uint32_t* unwritten_ = nullptr;  // indices into known_
  uint32_t* free_ = nullptr;       // indices into known_ that were given back
  uint32_t used_ = 0, unwritten_count_ = 0, free_count_ = 0;
};

}  // namespace capgate::preload
