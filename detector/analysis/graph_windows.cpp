#include "detector/analysis/graph_windows.h"

#include <algorithm>

namespace capgate::analysis {

GraphWindows::GraphWindows(const trace::ProcessTrace& trace) {
  for (const auto& capture : trace.captures)
    if (capture.r.graph) begins_[capture.r.graph].push_back(capture.r.h.seq);
  for (const auto& contents : trace.graph_contents) {
    begins_[contents.r.graph].push_back(contents.r.h.seq);
    uint64_t& last = written_by_[contents.r.call_seq];
    last = std::max(last, contents.r.h.seq);
  }
  for (auto& [graph, begins] : begins_) std::sort(begins.begin(), begins.end());
}

std::pair<uint64_t, uint64_t> GraphWindows::at(uint64_t graph, uint64_t as_of) const {
  const auto begins = begins_.find(graph);
  if (begins == begins_.end()) return {0, 0};
  const auto next = std::upper_bound(begins->second.begin(), begins->second.end(), as_of);
  if (next == begins->second.begin()) return {0, 0};
  return {*(next - 1), next == begins->second.end() ? UINT64_MAX : *next};
}

uint64_t GraphWindows::written_by(uint64_t call_seq) const {
  const auto written = written_by_.find(call_seq);
  return written == written_by_.end() ? call_seq : written->second;
}

}  // namespace capgate::analysis
