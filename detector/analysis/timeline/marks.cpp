#include "detector/analysis/timeline/marks.h"

#include <algorithm>

#include "base/region_pattern.h"

namespace capgate::analysis {

bool ProgramMarks::is_marked(const trace::RegionRecord& r, std::string_view name) const {
  if (r.source == static_cast<uint16_t>(trace::RegionSource::capgate_h)) return true;
  const std::string_view domain = out_.trace->text(r.domain);
  return std::any_of(patterns_.begin(), patterns_.end(), [&](const std::string& pattern) {
    return region_pattern(pattern).matches(name, domain);
  });
}

void ProgramMarks::range(const trace::OnThread<trace::RegionRecord>& record) {
  auto& thread = threads_[record.tid];
  const auto op = static_cast<trace::RegionOp>(record.r.op);
  if (op == trace::RegionOp::push || op == trace::RegionOp::start) {
    open(thread, record);
  } else if (op == trace::RegionOp::pop) {
    for (size_t i = thread.ranges.size(); i-- > 0;) {
      if (thread.ranges[i].range != 0) continue;
      close(thread, i, record.r.h.seq);
      return;
    }
  } else {
    // A started range may be stopped on another thread.
    for (auto& [tid, state] : threads_)
      for (size_t i = state.ranges.size(); i-- > 0;) {
        if (state.ranges[i].range != record.r.range || record.r.range == 0) continue;
        close(state, i, record.r.h.seq);
        return;
      }
  }
}

void ProgramMarks::open(Thread& thread, const trace::OnThread<trace::RegionRecord>& record) {
  OpenRange open;
  open.name = out_.trace->text(record.r.name);
  const bool started = record.r.op == static_cast<uint16_t>(trace::RegionOp::start);
  open.range = started ? record.r.range : 0;
  if (is_marked(record.r, open.name)) {
    RegionOccurrence occurrence;
    occurrence.name = open.name;
    occurrence.capgate_h = record.r.source == static_cast<uint16_t>(trace::RegionSource::capgate_h);
    occurrence.tid = record.tid;
    occurrence.begin_seq = record.r.h.seq;
    occurrence.sampled = (record.r.h.flags & trace::kSampledRegion) != 0;
    if (!thread.buckets.empty()) occurrence.bucket = thread.buckets.back();
    open.occurrence = static_cast<int32_t>(out_.regions.size());
    out_.regions.push_back(std::move(occurrence));
  }
  constexpr std::string_view kBucket = "bucket:";
  open.is_bucket = open.name.starts_with(kBucket);
  if (open.is_bucket) push_bucket(thread, open.name.substr(kBucket.size()));
  thread.ranges.push_back(std::move(open));
}

void ProgramMarks::push_bucket(Thread& thread, std::string name) {
  for (const auto& range : thread.ranges)
    if (range.occurrence != kNone)
      if (auto& occurrence = out_.regions[static_cast<size_t>(range.occurrence)]; occurrence.bucket.empty())
        occurrence.bucket = name;
  thread.buckets.push_back(std::move(name));
  thread.visit = ++visits_;
}

void ProgramMarks::close(Thread& thread, size_t i, uint64_t seq) {
  const OpenRange range = thread.ranges[i];
  thread.ranges.erase(thread.ranges.begin() + static_cast<std::ptrdiff_t>(i));
  if (range.occurrence != kNone) out_.regions[static_cast<size_t>(range.occurrence)].end_seq = seq;
  if (range.is_bucket && !thread.buckets.empty()) thread.buckets.pop_back();
}

void ProgramMarks::mark(const trace::OnThread<trace::MarkRecord>& record) {
  auto& thread = threads_[record.tid];
  const auto text = [&](uint32_t id) { return std::string(out_.trace->text(id)); };
  switch (static_cast<trace::MarkOp>(record.r.op)) {
    case trace::MarkOp::bucket_push:
      push_bucket(thread, text(record.r.a));
      break;
    case trace::MarkOp::bucket_pop:
      if (!thread.buckets.empty()) thread.buckets.pop_back();
      break;
    case trace::MarkOp::allow_begin:
      thread.allows.push_back({text(record.r.a), text(record.r.b)});
      break;
    case trace::MarkOp::allow_end:
      if (!thread.allows.empty()) thread.allows.pop_back();
      break;
    case trace::MarkOp::break_begin:
      ++thread.breaks;
      break;
    case trace::MarkOp::break_end:
      if (thread.breaks > 0) --thread.breaks;
      break;
    case trace::MarkOp::detach:  // of the whole run
      break;
  }
}

void ProgramMarks::describe(const Call& call, CallContext& context) {
  const Thread& thread = threads_[call.tid];
  context.in_break = thread.breaks > 0;
  context.allows = thread.allows;
  for (size_t i = thread.ranges.size(); i-- > 0 && context.region == kNone;)
    context.region = thread.ranges[i].occurrence;
}

std::string ProgramMarks::capture_begins(uint32_t tid) {
  const Thread& thread = threads_[tid];
  for (const auto& range : thread.ranges)
    if (range.occurrence != kNone) out_.regions[static_cast<size_t>(range.occurrence)].has_capture = true;
  return thread.buckets.empty() ? "" : thread.buckets.back();
}

}  // namespace capgate::analysis
