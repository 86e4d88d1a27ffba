// Where in the trace a graph's contents stand: behind the record of the capture that made it, or of the call
// that made an executable of it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "detector/trace/process_trace.h"

namespace capgate::analysis {

class GraphWindows {
 public:
  explicit GraphWindows(const trace::ProcessTrace& trace);

  // Its records are those with a number between the two, both excluded. {0, 0}: the trace does not hold what
  // the graph held when the record `as_of` was written.
  std::pair<uint64_t, uint64_t> at(uint64_t graph, uint64_t as_of) const;

  // A call that uses a graph writes when it returns what had changed since: the last record of that, else the
  // call itself.
  uint64_t written_by(uint64_t call_seq) const;

 private:
  std::unordered_map<uint64_t, std::vector<uint64_t>> begins_;  // by graph
  std::unordered_map<uint64_t, uint64_t> written_by_;           // by call
};

}  // namespace capgate::analysis
