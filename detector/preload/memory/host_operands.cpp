#include "detector/preload/memory/host_operands.h"

#include "detector/preload/memory/host_watch.h"
#include "detector/preload/stacks/stacks.h"
#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/safe_read.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

using trace::HostPlace;
using trace::OperandState;

constexpr uint32_t kMost = 256;

// A word that stays what it is as long as the memory is what it was: the return address of the frame that
// holds the variable, or malloc's header of a block that is a mapping by itself. Or `at` is 0, and the word
// is the number of a wait for its end.
struct Operand {
  uint64_t copy_seq;
  uint64_t address;
  uint64_t at, word;
  uint32_t tid;  // whose stack it is; 0: nobody's
  bool is_source;
};

SpinLock g_lock;
Operand g_operands[kMost];
std::atomic<uint32_t> g_count{0};

void write(ThreadState& thread, const Operand& operand, OperandState state, uint64_t launch_seq) {
  auto* record = reserve<trace::HostOperandRecord>(thread);
  if (record == nullptr) return;
  record->copy_seq = operand.copy_seq;
  record->launch_seq = launch_seq;
  record->state = uint16_t(state);
  record->is_source = operand.is_source ? 1 : 0;
  commit_record(thread, record, trace::RecordType::host_operand, sizeof(*record));
}

// glibc: a block that is a mapping of its own begins 16 bytes into a page; its size is whole pages, with a
// bit for the kind.
bool find_header(Operand& operand) {
  constexpr uint64_t kPage = 4096, kHeader = 16, kIsMapping = 2, kFlags = 7;
  if ((operand.address - kHeader) % kPage != 0) return false;
  operand.at = operand.address - sizeof(uint64_t);
  return read_memory(operand.at, &operand.word) && (operand.word & kFlags) == kIsMapping &&
         (operand.word & ~kFlags) % kPage == 0 && operand.word > kPage;
}

void watch(ThreadState& thread, uint64_t copy_seq, uint64_t address, uint8_t place, bool is_source) {
  Operand operand{copy_seq, address, 0, 0, 0, is_source};
  const auto where = HostPlace(place);
  if (where == HostPlace::stack) {
    operand.tid = thread.tid.load(std::memory_order_relaxed);
    if (!frame_of(thread, address, &operand.at, &operand.word)) return;
  } else if (where == HostPlace::heap) {
    operand.word = host_watch_on() ? watch_host_address(address) : 0;
    if (operand.word == 0) return;
  } else if (where != HostPlace::mapping || !find_header(operand)) {
    return;
  }
  {
    Locked locked(g_lock);
    const uint32_t n = g_count.load(std::memory_order_relaxed);
    if (n == kMost) return;
    g_operands[n] = operand;
    g_count.store(n + 1, std::memory_order_relaxed);
  }
  write(thread, operand, OperandState::watched, 0);
}

bool is_there(const ThreadState& thread, const Operand& operand) {
  if (operand.at == 0) return is_still_watched(operand.address, operand.word);
  // Below the frames that are left, the stack holds what calls before this one put there.
  const bool own = operand.tid != 0 && operand.tid == thread.tid.load(std::memory_order_relaxed);
  if (own && operand.address < thread.entry) return false;
  if (operand.tid != 0 && !own && !on_a_stack(operand.address)) return false;
  uint64_t word = 0;
  return read_memory(operand.at, &word) && word == operand.word;
}

}  // namespace

void watch_operands(ThreadState& thread, const trace::CallRecord& copy) {
  if ((copy.flags & trace::kCapturing) == 0) return;
  const auto pageable = uint8_t(trace::Memory::pageable);
  if (copy.src_memory == pageable) watch(thread, copy.h.seq, copy.src, copy.src_place, true);
  if (copy.dst_memory == pageable) watch(thread, copy.h.seq, copy.dst, copy.dst_place, false);
}

void check_operands(ThreadState& thread, uint64_t launch_seq) {
  for (uint32_t i = 0; i < g_count.load(std::memory_order_relaxed);) {
    Operand operand;
    {
      Locked locked(g_lock);
      if (i >= g_count.load(std::memory_order_relaxed)) return;
      operand = g_operands[i];
    }
    if (is_there(thread, operand)) {
      ++i;
      continue;
    }
    bool taken = false;
    {
      Locked locked(g_lock);
      const uint32_t n = g_count.load(std::memory_order_relaxed);
      if (i < n && g_operands[i].copy_seq == operand.copy_seq &&
          g_operands[i].is_source == operand.is_source) {
        g_operands[i] = g_operands[n - 1];
        g_count.store(n - 1, std::memory_order_relaxed);
        taken = true;
      }
    }
    if (taken) write(thread, operand, OperandState::gone, launch_seq);
  }
}

namespace {
void forget_in_child() {
  g_lock.reset();
  g_count.store(0);
}
}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

}  // namespace capgate::preload
