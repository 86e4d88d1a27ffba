// Which copies the host waits for: a read-back is one request, whatever calls it takes.
#include "detector/analysis/copy_operands.h"
#include "detector/analysis/judge.h"
#include "detector/trace/families.h"

namespace capgate::analysis {
namespace {

using trace::Family;
using trace::is_wait;

// Copies of one thread that nothing has come behind yet, and where events were recorded behind them.
struct CopiesUnderWay {
  std::vector<size_t> copies;
  std::map<uint64_t, size_t> records;  // by event
};

}  // namespace

// A copy and the wait for it that one line asks for (`.item()`, a blocking `.to()`, a mask used as an index)
// are one request of the user's, so one fault: the wait. On lines of their own they are two, of which the
// copy follows from the wait. See docs/design/one-fault-one-finding.md.
void Judge::pair_copies_with_waits() {
  std::map<uint32_t, CopiesUnderWay> by_thread;
  for (size_t i = 0; i < process_.trace.calls.size(); ++i) {
    const Call& c = call(i);
    const auto family = static_cast<Family>(c.r.family);
    if (c.r.flags & trace::kNested) continue;
    if (family == Family::memcpy_async) {
      by_thread[c.tid].copies.push_back(i);
      continue;
    }
    const auto found = by_thread.find(c.tid);
    if (found == by_thread.end()) continue;
    if (trace::has_trait(family, trace::kQuiet)) {
      if (family == Family::event_record) found->second.records[c.r.object] = i;
      continue;
    }
    const CopiesUnderWay under_way = std::move(found->second);
    by_thread.erase(found);
    if (!is_wait(family) || !place(i).known || place(i).location.line == 0) continue;
    const size_t last = under_way.copies.back();
    const bool same_stream = family != Family::stream_sync || stream_key(c) == stream_key(call(last));
    if (same_stream && place(i).site == place(last).site) {
      copy_of_wait[i] = last;
      wait_of_copy[last] = i;
      waited_for.insert(last);
      continue;
    }
    for (const size_t copy : under_way.copies) {
      if (!goes_to_host(timeline_, call(copy).r)) continue;
      bool for_it = family == Family::device_sync && c.r.device == call(copy).r.device;
      if (family == Family::stream_sync) for_it = stream_key(c) == stream_key(call(copy));
      if (family == Family::event_sync) {
        const auto record = under_way.records.find(c.r.object);
        for_it = record != under_way.records.end() && record->second > copy &&
                 stream_key(call(record->second)) == stream_key(call(copy));
      }
      if (!for_it) continue;
      waited_for.insert(copy);
      follows({"pageable-copy", copy}, {"host-sync", i});
    }
  }
}

}  // namespace capgate::analysis
