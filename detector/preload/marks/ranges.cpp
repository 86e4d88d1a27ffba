#include "detector/preload/marks/ranges.h"

#include "base/region_pattern.h"
#include "detector/preload/marks/sampled_steps.h"
#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/counters.h"
#include "detector/preload/writer/strings.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

constexpr char kBucket[] = "bucket:";
constexpr uint32_t kMaxStarted = 256;
constexpr uint32_t kNamesCounted = 64;

// A range that may end on another thread.
struct Started {
  uint64_t range;
  uint32_t name, domain;
  trace::RegionSource source;
  bool written;  // its start is in the trace
};

struct Subject {
  uint32_t key, value;
};
constexpr uint32_t kMaxSubjects = 64;

SpinLock g_lock;
Subject g_subjects[kMaxSubjects];
uint32_t g_subject_count = 0;
Started g_started[kMaxStarted];
uint32_t g_started_count = 0;
std::atomic<uint32_t> g_marked_started{0};
std::atomic<uint32_t> g_names_counted{0};

void write_region(ThreadState& thread, trace::RegionOp op, trace::RegionSource source, uint32_t name,
                  uint32_t domain, uint64_t range, uint16_t flags = 0) {
  auto* record = reserve<trace::RegionRecord>(thread);
  if (record == nullptr) return;
  record->t_ns = monotonic_ns();
  record->op = uint16_t(op);
  record->source = uint16_t(source);
  record->name = name;
  record->domain = domain;
  record->stack = 0;
  record->range = range;
  commit_record(thread, record, trace::RecordType::region, sizeof(*record), 0, flags);
}

void write_mark_record(ThreadState& thread, trace::MarkOp op, uint32_t a, uint32_t b) {
  auto* record = reserve<trace::MarkRecord>(thread);
  if (record == nullptr) return;
  record->t_ns = monotonic_ns();
  record->op = uint16_t(op);
  record->a = a;
  record->b = b;
  record->stack = 0;
  commit_record(thread, record, trace::RecordType::mark, sizeof(*record));
}

// The begin or end of a range, as its kind is written.
void write_edge(ThreadState& thread, const OpenRange& range, bool begin) {
  switch (range.kind) {
    case RangeKind::unasked:
      break;
    case RangeKind::region:
      write_region(thread, begin ? trace::RegionOp::push : trace::RegionOp::pop,
                   trace::RegionSource(range.source), range.name, range.second, 0,
                   range.sampled ? trace::kSampledRegion : 0);
      break;
    case RangeKind::bucket:
    case RangeKind::set_bucket:
      write_mark_record(thread, begin ? trace::MarkOp::bucket_push : trace::MarkOp::bucket_pop, range.name,
                        0);
      break;
    case RangeKind::allow:
      write_mark_record(thread, begin ? trace::MarkOp::allow_begin : trace::MarkOp::allow_end, range.name,
                        range.second);
      break;
    case RangeKind::eager_break:
      write_mark_record(thread, begin ? trace::MarkOp::break_begin : trace::MarkOp::break_end, range.name, 0);
      break;
  }
}

// String id of the bucket in force, 0 for none.
uint32_t bucket_of(const ThreadState& thread) {
  for (uint32_t i = thread.ranges_open; i-- > 0;) {
    if (i >= kMaxRanges) continue;
    const RangeKind kind = thread.ranges[i].kind;
    if (kind == RangeKind::bucket || kind == RangeKind::set_bucket) return thread.ranges[i].name;
  }
  return 0;
}

void open_range(ThreadState& thread, OpenRange range) {
  const uint32_t bucket = range.kind == RangeKind::region ? bucket_of(thread) : 0;
  const uint32_t at = thread.ranges_open++;
  if (at >= kMaxRanges) return;
  if (range.kind == RangeKind::region && trace_live())
    range.sampled = sampled_step_begins(thread, uint64_t{bucket} << 32 | range.name);
  if (range.kind != RangeKind::unasked) {
    if (trace_live()) {
      write_open_ranges(thread);
      range.written = true;
      write_edge(thread, range, true);
    } else {
      ++thread.unwritten_ranges;
    }
  }
  thread.ranges[at] = range;
  if (range.kind == RangeKind::region) ++thread.marked_ranges;
}

// Closes the innermost range that `matches`.
template <class Matches>
void close_range(ThreadState& thread, Matches matches) {
  if (thread.ranges_open > kMaxRanges) {  // deeper than is kept
    --thread.ranges_open;
    return;
  }
  uint32_t at = thread.ranges_open;
  while (at > 0 && !matches(thread.ranges[at - 1])) --at;
  if (at == 0) return;
  const OpenRange range = thread.ranges[at - 1];
  memmove(&thread.ranges[at - 1], &thread.ranges[at], (thread.ranges_open - at) * sizeof(OpenRange));
  --thread.ranges_open;
  if (range.written) {
    write_edge(thread, range, false);
  } else if (range.kind != RangeKind::unasked && thread.unwritten_ranges > 0) {
    --thread.unwritten_ranges;
  }
  if (range.kind == RangeKind::region) --thread.marked_ranges;
  if (range.sampled) sampled_step_ends(thread);
}

bool is_bucket(const char* name) {
  return strncmp(name, kBucket, sizeof(kBucket) - 1) == 0;
}

// The ranges that nobody asked for: their names once, so that a report can say what could be asked for.
void count_name(ThreadState& thread, const char* name, const char* domain) {
  if (!trace_live() || g_names_counted.load(std::memory_order_relaxed) >= kNamesCounted * 16) return;
  g_names_counted.fetch_add(1, std::memory_order_relaxed);
  Text text;
  text << "nvtx-range:" << (domain != nullptr ? domain : "") << (domain != nullptr ? "@" : "") << name;
  count(thread, text.c_str());
}

}  // namespace

bool is_step_name(const char* name, const char* domain) {
  for (const char* line = setting("CAPGATE_REGIONS"); *line != 0;) {
    const char* end = strchr(line, '\n');
    const size_t n = end != nullptr ? size_t(end - line) : strlen(line);
    if (n != 0 && region_pattern({line, n}).matches(name, domain != nullptr ? domain : "")) return true;
    line += n + (end != nullptr ? 1 : 0);
  }
  return false;
}

void push_range(const char* name, const char* domain, trace::RegionSource source) {
  ThreadState* thread = this_thread();
  if (thread == nullptr || thread->busy) return;
  Busy busy(*thread);
  OpenRange range{};
  range.source = uint8_t(source);
  range.second = intern(*thread, domain);
  if (is_bucket(name)) {
    range.kind = RangeKind::bucket;
    name += sizeof(kBucket) - 1;
  } else if (source == trace::RegionSource::capgate_h || is_step_name(name, domain)) {
    range.kind = RangeKind::region;
  } else {
    count_name(*thread, name, domain);
  }
  if (range.kind != RangeKind::unasked) range.name = intern(*thread, name);
  open_range(*thread, range);
}

void pop_range(const char* domain, trace::RegionSource source) {
  ThreadState* thread = this_thread();
  if (thread == nullptr || thread->busy) return;
  Busy busy(*thread);
  const uint32_t wanted = intern(*thread, domain);
  close_range(*thread, [&](const OpenRange& range) {
    // Each domain has a stack of its own: the innermost range of this one goes.
    return range.kind <= RangeKind::bucket && range.second == wanted && range.source == uint8_t(source);
  });
}

void begin_scope(RangeKind kind, const char* name, const char* second) {
  ThreadState* thread = this_thread();
  if (thread == nullptr || thread->busy) return;
  Busy busy(*thread);
  open_range(*thread, {intern(*thread, name), intern(*thread, second), kind, false,
                       uint8_t(trace::RegionSource::capgate_h), false});
}

void end_scope(RangeKind kind) {
  ThreadState* thread = this_thread();
  if (thread == nullptr || thread->busy) return;
  Busy busy(*thread);
  close_range(*thread, [&](const OpenRange& range) { return range.kind == kind; });
}

void set_bucket(const char* name) {
  end_scope(RangeKind::set_bucket);
  if (name != nullptr && *name != 0) begin_scope(RangeKind::set_bucket, name, nullptr);
}

void set_subject(const char* key, const char* value) {
  ThreadState* thread = this_thread();
  if (thread == nullptr || thread->busy) return;
  Busy busy(*thread);
  Text name;
  name << "subject." << key;
  const Subject subject{intern(*thread, name.c_str()), intern(*thread, value)};
  // Asked under the lock: a trace that opens right after this answer writes the subject that is kept now.
  Locked locked(g_lock);
  if (trace_live())
    write_meta(*thread, name.c_str(), value);
  else if (g_subject_count < kMaxSubjects)
    g_subjects[g_subject_count++] = subject;
}

void write_subjects(ThreadState& thread) {
  Locked locked(g_lock);
  for (uint32_t i = 0; i < g_subject_count; ++i)
    write_meta(thread, interned_text(g_subjects[i].key), interned_text(g_subjects[i].value));
}

void start_range(const char* name, const char* domain, uint64_t range, trace::RegionSource source) {
  ThreadState* thread = this_thread();
  if (thread == nullptr || thread->busy) return;
  Busy busy(*thread);
  if (!is_step_name(name, domain)) {
    count_name(*thread, name, domain);
    return;
  }
  const uint32_t name_id = intern(*thread, name), domain_id = intern(*thread, domain);
  // Asked under the lock: a trace that opens right after this answer writes the start itself.
  Locked locked(g_lock);
  if (g_started_count == kMaxStarted) return;
  const bool live = trace_live();
  g_started[g_started_count++] = {range, name_id, domain_id, source, live};
  g_marked_started.fetch_add(1);
  if (live) write_region(*thread, trace::RegionOp::start, source, name_id, domain_id, range);
}

void stop_range(uint64_t range, trace::RegionSource source) {
  ThreadState* thread = this_thread();
  if (thread == nullptr || thread->busy) return;
  Busy busy(*thread);
  Locked locked(g_lock);
  for (uint32_t i = 0; i < g_started_count; ++i) {
    const Started started = g_started[i];
    if (started.range != range) continue;
    g_started[i] = g_started[--g_started_count];
    g_marked_started.fetch_sub(1);
    write_region(*thread, trace::RegionOp::stop, source, started.name, started.domain, range);
    return;
  }
}

bool process_range_open() {
  return g_marked_started.load(std::memory_order_relaxed) > 0;
}

void write_open_ranges(ThreadState& thread) {
  if (thread.unwritten_ranges == 0 || !trace_live()) return;
  thread.unwritten_ranges = 0;
  for (uint32_t i = 0; i < thread.ranges_open && i < kMaxRanges; ++i) {
    OpenRange& range = thread.ranges[i];
    if (range.written || range.kind == RangeKind::unasked) continue;
    range.written = true;
    write_edge(thread, range, true);
  }
}

void write_started_ranges(ThreadState& thread) {
  // Written under the lock: the end of a range that stops now comes after its start.
  Locked locked(g_lock);
  for (uint32_t i = 0; i < g_started_count; ++i) {
    Started& started = g_started[i];
    if (started.written) continue;
    started.written = true;
    write_region(thread, trace::RegionOp::start, started.source, started.name, started.domain, started.range);
  }
}

namespace {
void forget_in_child() {
  g_lock.reset();
  g_started_count = 0;
  g_marked_started.store(0);
}
}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

}  // namespace capgate::preload
