// The streams that the steps between two replays use, and which of them the legacy default stream waits for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "detector/analysis/steps.h"
#include "detector/analysis/timeline.h"

namespace capgate::analysis {

// Made by one process, of any of its steps.
class StepStreams {
 public:
  explicit StepStreams(const Timeline& timeline);

  // Of steps of one graph: "one stream" where all work and all waits of theirs are on one, "several streams"
  // where they are not.
  std::string used_by(const std::vector<Step>& steps) const;

  // The stream that launches the graph, as details["launched on"] says it: "a blocking stream" or "a
  // non-blocking stream"; empty where it changes or the trace does not tell.
  std::string launched_on(const std::vector<Step>& steps) const;

  // The call after this wait, in the step, is a synchronous copy, which waits for the same stream.
  bool copy_waits_too(const Step& step, size_t wait) const;

 private:
  std::optional<uint64_t> waited_for(size_t call) const;
  // Empty: the trace does not tell.
  std::optional<bool> is_blocking(uint64_t stream, uint64_t seq) const;

  struct Made {
    uint64_t seq = 0;
    bool blocking = false;
  };

  const Timeline& timeline_;
  std::map<uint64_t, std::vector<Made>> made_;  // by stream: a handle is given out again
  std::vector<std::optional<uint64_t>>
      recorded_on_;  // by call: of a wait for an event, its last record's stream
};

}  // namespace capgate::analysis
