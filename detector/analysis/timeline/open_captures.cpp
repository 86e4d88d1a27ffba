#include "detector/analysis/timeline/open_captures.h"

#include <utility>

#include "detector/analysis/results.h"

namespace capgate::analysis {

using trace::Family;

OpenCaptures::OpenCaptures(Timeline& out) : out_(out) {
  for (const auto& record : out.trace->captures) records_[record.r.begin_seq] = &record.r;
}

void OpenCaptures::begin(size_t index, uint64_t stream, std::string bucket, uint64_t visit) {
  const Call& call = out_.call(index);
  Capture begun;
  begun.number = out_.captures.size();
  begun.begin = index;
  begun.begin_seq = call.r.h.seq;
  begun.tid = call.tid;
  begun.stream = stream;
  begun.device = call.r.stream_device != trace::kNoDevice ? call.r.stream_device : call.r.device;
  begun.bucket = std::move(bucket);
  begun.bucket_visit = visit;
  if (const auto record = records_.find(begun.begin_seq); record != records_.end()) {
    begun.record = record->second;
    begun.cuda_id = record->second->capture_id;
  }
  const auto id = static_cast<int32_t>(begun.number);
  out_.captures.push_back(std::move(begun));
  begun_by_[call.tid].push_back(id);
  in_capture_[stream] = id;
  open_.push_back(id);
}

int32_t OpenCaptures::end(size_t index, uint64_t stream) {
  const Call& call = out_.call(index);
  int32_t id = kNone;
  if (const auto known = in_capture_.find(stream); known != in_capture_.end()) id = known->second;
  if (id == kNone || call.r.result == kCaptureUnmatched || call.r.result == kCaptureWrongThread) return kNone;
  Capture& ended = capture(id);
  if (ended.stream != stream) return kNone;
  ended.end = index;
  ended.end_seq = call.r.seq_end ? call.r.seq_end : call.r.h.seq;
  if (call.r.result == 0) ended.graph = ended.record ? ended.record->graph : call.r.out;
  std::erase_if(in_capture_, [&](const auto& entry) { return entry.second == id; });
  std::erase(open_, id);
  for (auto& [tid, begun] : begun_by_) std::erase(begun, id);
  return id;
}

int32_t OpenCaptures::of_stream(const Call& call, uint64_t stream) const {
  if (!(call.r.flags & trace::kHasStreamArg) || open_.empty()) return kNone;
  const auto simulated = in_capture_.find(stream);
  const int32_t followed = simulated == in_capture_.end() ? kNone : simulated->second;
  const bool is_boundary = call.r.family == static_cast<uint16_t>(Family::capture_begin) ||
                           call.r.family == static_cast<uint16_t>(Family::capture_end);
  if (call.r.capture_status == 0 && !is_boundary) return kNone;
  if (call.r.capture_status == 1 || call.r.capture_status == 2 || (call.r.flags & trace::kCapturing)) {
    for (const int32_t id : open_)
      if (capture(id).cuda_id != 0 && capture(id).cuda_id == call.r.capture_id) return id;
    if (followed == kNone && open_.size() == 1) return open_.front();
  }
  return followed;
}

int32_t OpenCaptures::window_of(const Call& call, const CallContext& context) const {
  if (context.stream_capture != kNone) return context.stream_capture;
  if (const auto begun = begun_by_.find(call.tid); begun != begun_by_.end() && !begun->second.empty())
    return begun->second.back();
  for (const int32_t id : open_)
    if (capture(id).threads.contains(call.tid)) return id;
  return kNone;
}

bool OpenCaptures::holds(int32_t id, uint64_t stream) const {
  const auto known = in_capture_.find(stream);
  return known != in_capture_.end() && known->second == id;
}

void OpenCaptures::works(size_t index, int32_t id, uint64_t stream) {
  const Call& call = out_.call(index);
  Capture& at = capture(id);
  if (call.tid != at.tid) at.threads.try_emplace(call.tid, call.r.h.seq);
  for (auto& fork : at.forks)
    if (fork.stream == stream) {
      fork.last_work = index;
      fork.active_seq = call.r.h.seq;
    }
}

}  // namespace capgate::analysis
