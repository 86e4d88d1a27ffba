#include "kernels/stream_plan.h"

#include <algorithm>

#include "kernels/tiles.h"

namespace dsv4::kernels {
namespace {

// A task in turns: the tiles that a block takes side by side.
struct Turns {
  std::int64_t bytes;  // of one
  int tiles, streams, count;
  int blocks(std::int64_t most_bytes) const {
    const auto each = std::max<std::int64_t>(1, most_bytes / bytes);
    return static_cast<int>((count + each - 1) / each);
  }
};

Turns turns_of(const StreamTask& task) {
  const Slices slices = slices_of(task.w.cols);
  Turns t{};
  t.streams = slices.chunks > 1 ? 1 : kSlicesAtOnce / slices.per_chunk;
  t.tiles = (task.w.rows + kTileRows - 1) / kTileRows;
  t.count = (t.tiles + t.streams - 1) / t.streams;
  t.bytes = t.streams * tile_bytes(task.w.format, task.w.cols);
  return t;
}

}  // namespace

StreamPlan plan_streams(const StreamTasks& tasks, int batch, int blocks) {
  StreamPlan plan{};
  plan.batch = batch;
  blocks = std::min(std::max(blocks, tasks.count), kMostShares);
  Turns turns[kMostStreamTasks];
  std::int64_t enough = 0, little = 0;
  for (int i = 0; i < tasks.count; ++i) {
    turns[i] = turns_of(tasks.task[i]);
    enough = std::max(enough, turns[i].bytes * turns[i].count);
  }
  // The least share with which the blocks suffice.
  while (enough - little > 1024) {
    const std::int64_t middle = little + (enough - little) / 2;
    int needed = 0;
    for (int i = 0; i < tasks.count; ++i) needed += turns[i].blocks(middle);
    (needed <= blocks ? enough : little) = middle;
  }
  for (int i = 0; i < tasks.count; ++i) {
    const StreamTask& task = tasks.task[i];
    const Slices slices = slices_of(task.w.cols);
    const Turns& t = turns[i];
    // A chunk's sums are kept until the last chunk is done: 256 slices of 16 rows have room.
    plan.entry[i] = {task,
                     slices.per_chunk,
                     slices.chunks,
                     slices_together(task.w.rows, task.w.cols),
                     t.streams,
                     kSlicesAtOnce * kSlicesAtOnce / (t.streams * slices.count()),
                     task.w.cols % 4 == 0 && task.x_stride % 4 == 0 && task.x_slot_stride % 4 == 0};
    const int its_blocks = t.blocks(enough);
    const int each = t.count / its_blocks, more = t.count % its_blocks;
    for (int j = 0, turn = 0; j < its_blocks; ++j) {
      const int next = turn + each + (j < more ? 1 : 0);
      plan.share[plan.shares++] = {static_cast<std::int16_t>(i), turn * t.streams,
                                   std::min(next * t.streams, t.tiles) - turn * t.streams};
      turn = next;
    }
  }
  return plan;
}

}  // namespace dsv4::kernels
