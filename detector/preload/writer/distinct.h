#pragma once

#include <stddef.h>
#include <stdint.h>

#include "detector/preload/system/sys.h"

namespace capgate::preload {

// Ids of distinct byte strings, by two hashes.
class Distinct {
 public:
  // Its id and whether it is new; 0 when the table is full.
  uint32_t find(const void* data, size_t bytes, bool* fresh);
  void forget();

 private:
  struct Slot {
    uint64_t hash;
    uint32_t check;
    uint32_t id;
  };
  SpinLock lock_;
  Slot* slots_ = nullptr;
  uint32_t count_ = 0;
};

}  // namespace capgate::preload
