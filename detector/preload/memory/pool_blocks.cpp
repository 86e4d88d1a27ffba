#include "detector/preload/memory/pool_blocks.h"

#include "detector/preload/cuda/captures.h"
#include "detector/preload/memory/block_table.h"
#include "detector/preload/python/python_lines.h"
#include "detector/preload/stacks/stacks.h"
#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/parts.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/modules.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

using trace::BlockOp;
using trace::PoolBlockRecord;

// Held under the allocator's own lock, and for nothing that takes another one.
SpinLock g_lock;
BlockTable g_blocks;
enum class Followed : uint8_t { not_yet, yes, lost };
Followed g_followed = Followed::not_yet;

struct Stacks {
  uint32_t native = 0, python = 0;
};

// A block's place of birth is needed long before it is known whether anybody will ask. Python's is cheap, and
// the native one is not: it is taken where no Python runs in the process, or where the block is written at
// once.
Stacks stacks_here(ThreadState& thread, bool written) {
  Stacks out;
  if (python_was_mapped()) find_python(thread);
  if (!without(Part::python_stacks))
    out.python = written ? python_stack(thread) : frequent_python_stack(thread);
  if (!without(Part::native_stacks) && (written || !python_was_mapped())) {
    bool truncated = false;
    out.native = native_stack(thread, &truncated, out.python != 0);
  }
  return out;
}

bool write(ThreadState& thread, const PoolBlock& block, BlockOp op, uint64_t born_seq, const Stacks& stacks) {
  auto* record = reserve<PoolBlockRecord>(thread);
  if (record == nullptr) return false;
  record->start = block.start;
  record->bytes = block.bytes;
  record->born_seq = born_seq;
  record->device = block.device;
  record->op = uint16_t(op);
  record->allocator = uint16_t(block.allocator);
  record->stack = stacks.native;
  record->python_stack = stacks.python;
  record->own_capture = thread.captures_open.load(std::memory_order_relaxed) != 0;
  commit_record(thread, record, trace::RecordType::pool_block, sizeof(*record));
  return true;
}

void write_birth(ThreadState& thread, KnownBlock& known) {
  if (!write(thread, known.block, BlockOp::born, known.born_seq, {known.stack, known.python_stack}))
    g_followed = Followed::lost;
  g_blocks.mark_written(known);
}

// What was lost is told once, by whoever gets here first after it.
void tell(ThreadState& thread, Followed before, Followed now) {
  if (before == now) return;
  write_meta(thread, "torch.blocks",
             now == Followed::yes ? "followed" : "lost: there was no room for all of them");
}

}  // namespace

void pool_block_born(ThreadState& thread, const PoolBlock& block) {
  if (!thread.named) name_thread(thread);
  const bool at_once = captures_open() != 0;
  const Stacks stacks = stacks_here(thread, at_once);
  const uint64_t seq = next_seq();
  Followed before, now;
  {
    Locked locked(g_lock);
    before = g_followed;
    if (before == Followed::not_yet) g_followed = Followed::yes;
    KnownBlock* known = g_blocks.find(block.start);
    // A block that died in the trace comes back there as well: its address now belongs to somebody else.
    const bool watched = known != nullptr && known->unwritten == 0;
    if (known == nullptr) known = g_blocks.add(block.start);
    if (known == nullptr) {
      g_followed = Followed::lost;
    } else {
      known->block = block;
      known->born_seq = seq;
      known->stack = stacks.native;
      known->python_stack = stacks.python;
      known->dead = false;
      if (at_once || watched) write_birth(thread, *known);
    }
    now = g_followed;
  }
  tell(thread, before, now);
}

void pool_block_died(ThreadState& thread, uint64_t start) {
  PoolBlock block;
  uint64_t born_seq;
  {
    Locked locked(g_lock);
    KnownBlock* known = g_blocks.find(start);
    if (known == nullptr || known->dead) return;
    if (known->unwritten != 0) {
      g_blocks.remove(*known);
      return;
    }
    known->dead = true;
    block = known->block;
    born_seq = known->born_seq;
  }
  if (!thread.named) name_thread(thread);
  const Stacks stacks = stacks_here(thread, true);
  Locked locked(g_lock);
  if (!write(thread, block, BlockOp::died, born_seq, stacks)) g_followed = Followed::lost;
}

void write_living_pool_blocks(ThreadState& thread) {
  Followed before, now;
  {
    Locked locked(g_lock);
    before = g_followed;
    while (KnownBlock* known = g_blocks.unwritten()) write_birth(thread, *known);
    now = g_followed;
  }
  tell(thread, before, now);
}

namespace {
void forget_in_child() {
  g_lock.reset();
  g_blocks.forget();
  g_followed = Followed::not_yet;
}
}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

}  // namespace capgate::preload
