// Which block of a streaming launch takes which tiles.
#pragma once

#include "kernels/stream.h"

namespace dsv4::kernels {

constexpr int kMostShares = 160;

struct StreamShare {
  std::int16_t task;
  int first_tile, tiles;
};

struct StreamPlan {
  struct Entry {
    StreamTask task;
    int per_chunk, chunks;
    int together;  // slices_together
    int streams;   // tiles side by side: as many as there are warps for
    int room;      // tiles of each stream whose sums have room
    bool whole;    // x may be read four values at a time
  } entry[kMostStreamTasks];
  StreamShare share[kMostShares];
  int shares, batch;
  Beside beside;
};

// Every tile of every task in one share, of at most `blocks` (at least one a task): none has many more bytes
// than another.
StreamPlan plan_streams(const StreamTasks& tasks, int batch, int blocks);

}  // namespace dsv4::kernels
