// What every rule is given: one process's timeline, its places, and where to put what it finds.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "detector/analysis/device_refusals.h"
#include "detector/analysis/made_nodes.h"
#include "detector/analysis/places.h"
#include "detector/analysis/steps.h"
#include "detector/analysis/timeline.h"
#include "reports/model/report.h"

namespace capgate::analysis {

struct MemoryLedger;
struct ReplayEvidence;
class GraphNodes;

// Where a fault is and how it was refused, when that is not the CUDA call that it is reported with.
struct Elsewhere {
  uint32_t stack = 0, python_stack = 0;
  std::string result;
};

// In a message or a detail, where the size belongs: it is known when all occurrences are.
inline constexpr std::string_view kSizeMark = "\x01";
inline constexpr std::string_view kBudgetMark = "\x02";  // for how the steps keep to the budget of waits

// A fault as a rule sees it, before equal ones are put together.
struct Finding {
  std::string rule;
  reports::Severity severity = reports::Severity::error;
  reports::Phase phase = reports::Phase::capture;
  std::string message;           // with kSizeMark for the size
  std::optional<uint64_t> size;  // of what this call copies, sets or allocates
  size_t call = 0;               // where it is reported
  std::optional<Elsewhere> elsewhere;
  std::optional<Elsewhere> origin;  // one more stack, of no call either
  int32_t capture = kNone;
  std::optional<uint64_t> bytes;
  bool blocks = false;         // its time is the host's
  bool whole_process = false;  // one finding a process, at its first place (first-use notes)
  std::string only_once;       // one finding for each value within the process, whatever the place
  reports::StackRole role = reports::StackRole::call;  // of the stack of the place where it is reported
  std::vector<std::pair<reports::StackRole, size_t>> more_stacks;          // role, call
  std::vector<std::pair<reports::StackRole, Elsewhere>> stacks_elsewhere;  // role, of no call
  std::map<std::string, std::string> details;
};

// Violations by rule and site; one fault is one of them, with a count.
class Findings {
 public:
  struct Entry {
    reports::Violation violation;
    std::set<int64_t> processes;
    uint64_t warm = 0, later = 0;  // occurrences in a first pass that others followed, and all the rest
    std::optional<std::pair<uint64_t, uint64_t>> sizes;  // the least and the largest
    StepShare in_regions;                                // of marked steps
    std::map<int64_t, StepShare> in_replays;  // by process: of the graph whose steps hold most of it
    std::map<const Entry*, uint64_t> causes;  // what it follows from, how often
    // What the occurrences were in and on: the violation names those of the gravest alone.
    std::map<std::pair<int64_t, int32_t>, uint64_t> captures;  // process and capture: launches of its graph
    std::set<std::pair<int64_t, int32_t>> killed;              // of them
    uint64_t in_captures = 0;                                  // occurrences
    std::set<std::string> streams, threads;
    std::set<int> devices;
    std::map<std::string, std::set<uint64_t>> nodes;  // of graphs, by their captures' ids
    uint64_t unallowed = 0;                           // outside every allow scope
    std::string allow_reason;
  };

  Entry& at(const std::string& rule, const std::string& site);
  std::vector<reports::Violation> take();

 private:
  std::map<std::pair<std::string, std::string>, Entry> entries_;
  std::vector<Entry*> order_;
};

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
  // `killed capture "decode bs=8": ` where this call did, else empty.
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

// "1 byte", "4 bytes", "4 to 4096 bytes".
std::string size_text(uint64_t least, uint64_t largest);

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
