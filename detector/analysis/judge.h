// What every rule is given: one process's timeline, its places, and where to put what it finds.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "detector/analysis/device_refusals.h"
#include "detector/analysis/finding.h"
#include "detector/analysis/findings.h"
#include "detector/analysis/made_nodes.h"
#include "detector/analysis/places.h"
#include "detector/analysis/steps.h"
#include "detector/analysis/timeline.h"
#include "reports/model/report.h"

namespace capgate::analysis {

struct MemoryLedger;
struct ReplayEvidence;
class GraphNodes;

// A call that is judged by a rule, or will be.
struct Fault {
  std::string_view rule;  // a literal
  size_t call = 0;
  auto operator<=>(const Fault&) const = default;
};

class Judge {
 public:
  Judge(const seal::SealedTrace& trace, const seal::Process& process, const Timeline& timeline,
        Places& places, const reports::Settings& settings, Findings& findings);

  void report(const Finding& finding);
  // A fault that no call of CUDA's goes with: `finding.elsewhere` is its place, `what` tells it from others
  // there.
  void report_apart(const Finding& finding, const std::string& what, uint32_t tid, uint64_t times);

  // `symptom` follows from `cause`: the value that the one copies is what the other waits for. To be said
  // before either is reported; it holds if both are.
  void follows(const Fault& symptom, const Fault& cause);
  void link_symptoms();  // when all rules have been

  // What the calls of one rule and place cost in the steps of one graph.
  void count_in_replays(const std::string& rule, const std::string& site, const StepShare& share);

  const Timeline& timeline() const { return timeline_; }
  const seal::SealedTrace& trace() const { return trace_; }
  const seal::Process& process() const { return process_; }
  const reports::Settings& settings() const { return settings_; }
  const Call& call(size_t i) const { return timeline_.call(i); }
  const CallContext& context(size_t i) const { return timeline_.contexts[i]; }
  const Place& place(size_t i);
  const Place& place(const Elsewhere& at);

  const Capture* window(size_t i) const;           // that the call's thread belongs to
  const RegionOccurrence* region(size_t i) const;  // when the call is to be judged as a part of a marked step
  static reports::Phase phase_of(const RegionOccurrence& occurrence) {
    return occurrence.number == 0 ? reports::Phase::warmup : reports::Phase::step;
  }
  bool goes_on(const RegionOccurrence& occurrence) const;  // its thread came back to the region later

  // CUDA accepted it, on a thread that made itself relaxed, from library code: such code knows what it does.
  bool is_relaxed_library(size_t i);
  // CUDA accepted it because the thread itself had exchanged its mode for that: on purpose, so a note at
  // most.
  bool is_relaxed(size_t i) const;
  // The framework's own caching allocators at work; they behave differently while a capture is open.
  bool is_framework_allocator(size_t i);

  // An error in a window, but for a capture that a retry replaced, or that no replay ever used.
  reports::Severity window_severity(const Capture& capture, reports::Severity full) const;

  std::string capture_name(const Capture& capture) const;  // `capture "decode bs=8"`
  std::string capture_id(const Capture& capture) const;
  std::string stream_name(size_t i) const;
  std::string thread_name(uint32_t tid) const;
  // The captures that this call killed: `capture "decode bs=8"`; none: empty.
  std::string killed(size_t i) const;
  bool killed_any(size_t i) const { return !killed(i).empty(); }

  // How long the host stood still in the call, and in the copy that it waits for at the same line.
  double blocked_us_with_its_copy(size_t i) const;

  // Copies that a wait at the same line belongs to: copy -> wait, wait -> copy.
  std::map<size_t, size_t> copy_of_wait, wait_of_copy;
  std::set<size_t> waited_for;  // copies that a wait behind them is for, on their line or on another
  std::map<size_t, DeviceRefusal> device_refusals;  // by call

 private:
  void pair_copies_with_waits();
  void describe(reports::Violation& v, const Finding& finding, const Place& at);
  std::string stream_text(size_t i) const;  // empty: the call was given none
  void add_nodes(Findings::Entry& entry, const Finding& finding);
  void count_in_step(Findings::Entry& entry, const RegionOccurrence& step, double blocked_us);

  const seal::SealedTrace& trace_;
  const seal::Process& process_;
  const Timeline& timeline_;
  Places& places_;
  const reports::Settings& settings_;
  Findings& findings_;
  std::optional<MadeNodes> made_nodes_;  // made for the first finding
  bool torch_ = true;                    // the process loads PyTorch, or may
  std::map<std::string, std::string> first_site_;
  std::map<std::string, RegionSteps> region_steps_;
  std::map<Fault, Findings::Entry*> linked_;    // null until it is reported
  std::vector<std::pair<Fault, Fault>> links_;  // symptom, cause
};

// "stack memory", "heap memory", "pageable memory".
std::string host_memory(trace::HostPlace place);

// The rules, a family each. Every call of them walks the whole process.
void judge_waits(Judge& judge);            // host-sync, host-poll
void judge_copies(Judge& judge);           // sync-copy, pageable-copy
void judge_allocations(Judge& judge);      // device-alloc, host-alloc
void judge_loading(Judge& judge);          // lazy-load
void judge_stray_work(Judge& judge);       // default-stream, escaped-work, wrong-device, empty-graph
void judge_joins(Judge& judge);            // unjoined-stream, foreign-event, capture-merge, nested-launch
void judge_host_nodes(Judge& judge);       // host-node
void judge_host_pointers(Judge& judge);    // host-pointer
void judge_threads(Judge& judge);          // cross-thread-call
void judge_failed_captures(Judge& judge);  // capture-invalidated; last: it names what no other rule did
void judge_exceptions(Judge& judge);       // what left a capture
void link_exceptions(Judge& judge);        // before the others: what an exception follows from
void judge_notices(Judge& judge);          // capture-skipped, recapture
void judge_steps(Judge& judge);            // what a step between two replays repeats
void judge_refused_calls(Judge& judge);    // refused-call
void judge_built_graphs(Judge& judge, const GraphNodes& nodes);  // host-pointer, host-node without a capture
void judge_recaptures(Judge& judge, const GraphNodes& nodes);    // recapture
// graph-alloc-leak. Returns the refused launches that it explains.
std::set<size_t> judge_graph_memory(Judge& judge, const GraphNodes& nodes);
void judge_graph_refusals(Judge& judge, const GraphNodes& nodes,
                          const std::set<size_t>& explained);                             // graph-refused
void judge_freed_memory(Judge& judge, const MemoryLedger& ledger);                        // freed-memory
void judge_replay_mismatches(Judge& judge, const std::vector<ReplayEvidence>& evidence);  // replay-mismatch

}  // namespace capgate::analysis
