// Which kind of failure a report tells of. The two need different people: a capture that dies is found by
// running it once; a graph that is not the step passes every test of the capture and then decodes wrongly.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/model/report.h"

namespace capgate::reports {

enum class FailureKind {
  capture_dies,   // CUDA refuses the call, or the end of the capture: there is no graph
  graph_is_wrong  // there is a graph, and replaying it does something else than the step
};

struct Failure {
  FailureKind kind = FailureKind::capture_dies;
  bool observed =
      false;  // in a capture of the run; else what a capture of this eager step or source comes to
  const Violation* at = nullptr;
  bool among_others =
      false;  // of those that no capture has shown: which of them a capture meets first is open
};

// Of one fault. Nothing for faults that do neither, such as captures that go on between replays.
std::optional<Failure> failure_of(const Report& report, const Violation& violation);

// Of a report: that of its unsuppressed errors which comes first; compared with a baseline, of those that it
// does not know. What was seen goes before what would be, then a death before a wrong graph, then the
// report's own order. Nothing without such an error.
std::optional<Failure> failure_of(const Report& report);
// The same of any faults of it.
std::optional<Failure> failure_of(const Report& report, std::span<const Violation* const> faults);

// How early each of a report's violations is to be read for its kind of failure: lower goes first. One of
// each.
std::vector<int> failure_ranks(const Report& report);

// `CAPTURE DIES at PLACE`, `GRAPH IS WRONG: it captures, but lacks the copy, at PLACE`; for what no capture
// has shown `A CAPTURE WOULD DIE at PLACE` and `A REPLAY WOULD BE WRONG: a graph of this step would lack the
// copy, at PLACE`; COULD where the memory may live as long as the graph.
std::string failure_text(const Failure& failure, const std::string& place);

// "all 3 launches of the graph lack the copy or memset"; "the one launch of the graph lacks …"
std::string wrong_launches(const Violation& fault, uint64_t launches);

}  // namespace capgate::reports
