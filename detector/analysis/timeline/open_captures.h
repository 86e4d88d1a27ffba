// The captures that are open: on which streams, and which threads work on them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "detector/analysis/timeline.h"

namespace capgate::analysis {

class OpenCaptures {
 public:
  explicit OpenCaptures(Timeline& out);

  void begin(size_t index, uint64_t stream, std::string bucket, uint64_t visit);
  // Returns the capture that ended, kNone where the call ended none.
  int32_t end(size_t index, uint64_t stream);

  // The capture that the call's stream takes part in, and the one that its thread belongs to.
  int32_t of_stream(const Call& call, uint64_t stream) const;
  int32_t window_of(const Call& call, const CallContext& context) const;
  bool holds(int32_t id, uint64_t stream) const;

  void join(int32_t id, uint64_t stream) { in_capture_[stream] = id; }
  void works(size_t index, int32_t id, uint64_t stream);  // a call put work on the stream

 private:
  Capture& capture(int32_t id) const { return out_.captures[static_cast<size_t>(id)]; }

  Timeline& out_;
  std::unordered_map<uint64_t, const trace::CaptureRecord*> records_;  // by begin_seq
  std::unordered_map<uint64_t, int32_t> in_capture_;                   // stream -> capture
  std::map<uint32_t, std::vector<int32_t>> begun_by_;                  // thread -> open captures
  std::vector<int32_t> open_;
};

// After the run: what became of the capture, and who broke it.
void settle(Timeline& timeline, Capture& capture);

}  // namespace capgate::analysis
