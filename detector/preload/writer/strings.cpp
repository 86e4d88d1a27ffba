#include "detector/preload/writer/strings.h"

#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

constexpr uint32_t kSlots = 1 << 16;  // three quarters of it are used at most
constexpr size_t kArenaBytes = 12 << 20;
constexpr size_t kMaxText = 8 << 10;

struct Entry {
  uint64_t hash;
  uint32_t offset, bytes;
};

struct Table {
  uint32_t slots[kSlots];  // id, 0 free
  Entry entries[kSlots];   // by id
  char arena[kArenaBytes];
};

SpinLock g_lock;
Table* g_table = nullptr;
uint32_t g_count = 0;
size_t g_used = 0;

void write_one(ThreadState& thread, uint32_t id) {
  const Entry& entry = g_table->entries[id];
  const size_t bytes = sizeof(trace::StringRecord) + entry.bytes;
  auto* record = static_cast<trace::StringRecord*>(reserve_record(thread, bytes));
  if (record == nullptr) return;
  record->id = id;
  record->bytes = entry.bytes;
  memcpy(record + 1, g_table->arena + entry.offset, entry.bytes);
  commit_record(thread, record, trace::RecordType::string, bytes);
}

}  // namespace

uint32_t intern(ThreadState& thread, const char* text, size_t bytes) {
  if (bytes > kMaxText) bytes = kMaxText;
  const uint64_t hash = hash_bytes(text, bytes);
  uint32_t id = 0;
  {
    Locked locked(g_lock);
    if (g_table == nullptr) g_table = static_cast<Table*>(map_memory(sizeof(Table)));
    if (g_table == nullptr) return 0;
    uint32_t slot = uint32_t(hash) % kSlots;
    for (; (id = g_table->slots[slot]) != 0; slot = (slot + 1) % kSlots) {
      const Entry& entry = g_table->entries[id];
      if (entry.hash == hash && entry.bytes == bytes &&
          memcmp(g_table->arena + entry.offset, text, bytes) == 0)
        return id;
    }
    if (g_count + 1 >= kSlots / 4 * 3 || g_used + bytes + 1 > kArenaBytes) return 0;
    id = ++g_count;
    memcpy(g_table->arena + g_used, text, bytes);
    g_table->entries[id] = {hash, uint32_t(g_used), uint32_t(bytes)};
    g_used += bytes + 1;
    g_table->slots[slot] = id;
  }
  if (trace_live()) write_one(thread, id);
  return id;
}

uint32_t intern(ThreadState& thread, const char* text) {
  return text != nullptr ? intern(thread, text, strlen(text)) : 0;
}

void write_strings(ThreadState& thread) {
  for (uint32_t id = 1; id <= g_count; ++id) write_one(thread, id);
}

const char* interned_text(uint32_t id) {
  return id != 0 && g_table != nullptr ? g_table->arena + g_table->entries[id].offset : "";
}

namespace {
void forget_in_child() {
  g_lock.reset();
}
}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

}  // namespace capgate::preload
