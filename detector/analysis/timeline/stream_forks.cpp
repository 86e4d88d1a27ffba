#include "detector/analysis/timeline/stream_forks.h"

namespace capgate::analysis {

void StreamForks::record(size_t index, uint64_t stream) {
  const Call& call = out_.call(index);
  if (call.r.result == 0) events_[call.r.object] = {index, stream, out_.contexts[index].stream_capture};
}

void StreamForks::wait(size_t index, uint64_t stream) {
  const Call& call = out_.call(index);
  CallContext& context = out_.contexts[index];
  const auto event = events_.find(call.r.object);
  if (event == events_.end()) return;
  context.last_record = static_cast<int32_t>(event->second.call);
  const int32_t id = event->second.capture;
  if (call.r.result != 0 || id == kNone || out_.captures[static_cast<size_t>(id)].end) return;
  Capture& capture = out_.captures[static_cast<size_t>(id)];
  if (!captures_.holds(id, stream)) {
    captures_.join(id, stream);
    Fork fork;
    fork.stream = stream;
    fork.wait = fork.last_work = index;
    fork.active_seq = call.r.h.seq;
    capture.forks.push_back(fork);
    context.stream_capture = id;
    context.window = id;
  }
  for (auto& fork : capture.forks)
    if (fork.stream == event->second.stream && fork.stream != stream)
      fork.joined_seq = out_.call(event->second.call).r.h.seq;
}

}  // namespace capgate::analysis
