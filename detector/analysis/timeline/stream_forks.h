// Events that bring streams into a capture, and back.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "detector/analysis/timeline.h"
#include "detector/analysis/timeline/open_captures.h"

namespace capgate::analysis {

class StreamForks {
 public:
  StreamForks(Timeline& out, OpenCaptures& captures) : out_(out), captures_(captures) {}

  void record(size_t index, uint64_t stream);
  void wait(size_t index, uint64_t stream);

 private:
  struct Recorded {
    size_t call = 0;
    uint64_t stream = 0;
    int32_t capture = kNone;
  };

  Timeline& out_;
  OpenCaptures& captures_;
  std::unordered_map<uint64_t, Recorded> events_;
};

}  // namespace capgate::analysis
