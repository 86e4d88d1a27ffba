#include "detector/preload/writer/counters.h"

#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/callback_ids.h"
#include "detector/preload/system/debug.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/strings.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

std::atomic<trace::CounterRecord*> g_calls[2][kMaxIds];

struct Named {
  uint32_t name;
  trace::CounterRecord* record;
};
constexpr uint32_t kMaxNamed = 512;
Named g_named[kMaxNamed];
uint32_t g_named_count = 0;
SpinLock g_lock;

trace::CounterRecord* make(ThreadState& thread, uint32_t name) {
  auto* record = reserve<trace::CounterRecord>(thread);
  if (record == nullptr) return nullptr;
  record->name = name;
  commit_record(thread, record, trace::RecordType::counter, sizeof(*record));
  return record;
}

void add(trace::CounterRecord& record, uint64_t value, uint64_t bytes, uint64_t blocked_ns) {
  __atomic_add_fetch(&record.value, value, __ATOMIC_RELAXED);
  if (bytes != 0) __atomic_add_fetch(&record.bytes, bytes, __ATOMIC_RELAXED);
  if (blocked_ns != 0) __atomic_add_fetch(&record.blocked_ns, blocked_ns, __ATOMIC_RELAXED);
}

}  // namespace

void count_call(ThreadState& thread, uint32_t domain, uint32_t cbid, const char* name, uint64_t bytes,
                uint64_t blocked_ns) {
  std::atomic<trace::CounterRecord*>& slot = g_calls[domain - 1][cbid];
  trace::CounterRecord* record = slot.load(std::memory_order_acquire);
  if (record == nullptr) {
    Text text;
    text << "call:" << (name != nullptr ? name : "?");
    record = make(thread, intern(thread, text.c_str(), text.size()));
    if (record == nullptr) return;
    if (debugging()) debug(Text() << "counted from here on: " << text.c_str());
    // Two threads may both make one; the reader adds them up.
    slot.store(record, std::memory_order_release);
  }
  add(*record, 1, bytes, blocked_ns);
}

void count(ThreadState& thread, const char* name, uint64_t value) {
  const uint32_t id = intern(thread, name);
  trace::CounterRecord* record = nullptr;
  {
    Locked locked(g_lock);
    for (uint32_t i = 0; i < g_named_count && record == nullptr; ++i)
      if (g_named[i].name == id) record = g_named[i].record;
  }
  if (record == nullptr) {
    record = make(thread, id);
    if (record == nullptr) return;
    if (debugging()) debug(Text() << "counted from here on: " << name);
    Locked locked(g_lock);
    if (g_named_count < kMaxNamed) g_named[g_named_count++] = {id, record};
  }
  add(*record, value, 0, 0);
}

namespace {
void forget_in_child() {
  g_lock.reset();
  g_named_count = 0;
  for (auto& domain : g_calls)
    for (auto& slot : domain) slot.store(nullptr, std::memory_order_relaxed);
}
}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

}  // namespace capgate::preload
