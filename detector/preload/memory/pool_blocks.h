// Blocks that a framework's own allocator hands out of memory that CUDA gave it. CUDA sees none of them come
// or go, so that a graph can keep the address of one that has long been given to somebody else.
//
// A program makes thousands of them per step, and few matter: those that lived while a capture was open. Only
// they are written, with what becomes of their addresses afterwards; the rest costs a look into a table.
#pragma once

#include <stdint.h>

#include "detector/trace/format.h"

namespace capgate::preload {

struct ThreadState;

struct PoolBlock {
  uint64_t start, bytes;
  int32_t device;
  trace::Allocator allocator;
};

// On the thread that allocates or frees, after the allocator's own work. `start` of a death: of its birth.
void pool_block_born(ThreadState& thread, const PoolBlock& block);
void pool_block_died(ThreadState& thread, uint64_t start);

// A capture begins: what lives now may get into its graph.
void write_living_pool_blocks(ThreadState& thread);

}  // namespace capgate::preload
