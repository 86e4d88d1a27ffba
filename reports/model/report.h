// The report: what every producer fills in and every view, form and gate reads. How it is written as JSON is
// in report_fields.h, and published in reports/schema/. Strings are UTF-8.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/model/replay_coverage.h"

namespace capgate::reports {

inline constexpr const char* kSchema = "capgate-report/1";

// The words for these are in names.h.
enum class Verdict { pass, fail, inconclusive };
enum class Severity { error, warning, note };
enum class Phase { warmup, capture, replay, step, source };
enum class Component { detector, static_checks, engine, merge };
enum class CoverageKind {
  nothing,
  source,
  eager,
  capture
};  // the weakest first; nothing: nothing was judged
enum class RegionSource { capgate_h, lint, nvtx };
enum class FrameLanguage { native, python };
enum class StackRole {
  call,
  allocated,
  captured,
  freed,
  forked,
  origin,
  mapped,
  unmapped,
  registered,
  unregistered,
  located,  // where the program asked for a module's variable
  unloaded,
  node,  // where a node was added or changed by hand
  ended  // the end of a capture
};
enum class Evidence { runtime, sources };
enum class BaselineState { new_since, known };
enum class BarKind { region, capture, replay, wait };

// Why a run proves nothing, and the command that would make it prove something.
struct Reason {
  std::string text;
  std::string remedy;
  bool operator==(const Reason&) const = default;
};

struct Tool {
  std::string name = "capgate";
  std::string version;
  Component component = Component::detector;
};

struct Run {
  std::vector<std::string> argv;
  std::optional<int> exit_code;
  std::optional<int> signal;
  bool stopped_by_user = false;
  double wall_s = 0;
};

struct Input {
  Component component = Component::detector;
  std::string digest;
  Verdict verdict = Verdict::inconclusive;
};

// Which program the report speaks of. `more` holds what a producer adds (code_digest, driver_branch, …).
struct Subject {
  std::string program, build_id, source_digest, code_digest, config_digest, mode, sm, driver_branch;
  std::vector<std::string> buckets;
  std::optional<int> devices;
  std::map<std::string, std::string> more;
};

struct Gpu {
  int index = 0;
  std::string name, sm;
};

struct Cupti {
  std::string path, version;
};

struct Environment {
  std::vector<Gpu> gpus;
  std::string driver, cuda_runtime;
  Cupti cupti;
  std::string host;
  std::optional<std::string> python, torch;
};

struct ProcessCoverage {
  int64_t pid = 0;
  std::optional<int> rank;
  std::string argv0;
  bool attached = false;
  uint64_t events = 0, events_dropped = 0;
};

struct RegionCoverage {
  std::string name;
  RegionSource source = RegionSource::nvtx;
  uint64_t occurrences = 0;
};

// What `lint --changed-since` kept: only what bears on lines that differ from a revision.
struct ChangedSince {
  std::string revision;
  std::vector<std::string> in_reach;  // changed files with such lines in a region's reach; empty: no region's
  bool operator==(const ChangedSince&) const = default;
};

struct Coverage {
  CoverageKind kind = CoverageKind::nothing;
  std::string cupti;  // attached | held-by:NAME | unavailable | "" (not a run)
  std::vector<ProcessCoverage> processes;
  uint64_t captures_completed = 0, captures_empty = 0, captures_failed = 0, captures_open = 0, replays = 0;
  std::vector<RegionCoverage> regions;
  std::optional<uint64_t> files_parsed, files_failed;
  // Files of the user's, as reports write paths, each once and in order: those that the frames of what a run
  // judged name, those that lint read, and those of the first that are not among the second. Absent in
  // reports of what does not know them, and of an older capgate.
  std::optional<std::vector<std::string>> sources_run, sources_read, sources_not_read;
  std::optional<ChangedSince> changed;
  std::optional<ReplayCoverage>
      replay;  // of runs that launched graphs; absent in reports of an older capgate
  std::vector<std::string> not_checked;
};

struct CaptureNode {
  uint64_t id = 0;
  std::string
      kind;  // kernel | memcpy | memset | host | alloc | free | event-record | event-wait | graph | empty | …
  std::string stream;  // label ("s0"), empty when unknown
  std::string name;    // kernel name, or what is copied
};

struct Capture {
  std::string id, process;
  std::optional<std::string> bucket;
  std::string stream, mode, thread, result;  // result: completed | empty | failed:<error> | open
  int device = 0;
  std::vector<CaptureNode> nodes;
  std::vector<std::pair<uint64_t, uint64_t>> edges;
  bool straight_line = false;
  double duration_us = 0;
  uint64_t replays = 0;
  std::optional<bool> nested;  // true: no graph of its own was launched, its work ran inside other graphs
};

// Something that a thread did, over time. Times are microseconds from the first bar of the run on.
struct Bar {
  BarKind kind = BarKind::region;
  std::string name;
  double begin_us = 0, end_us = 0;
  uint64_t count = 1;  // of equal ones that are one bar
  double busy_us = 0;  // what they lasted themselves
  std::optional<std::string> capture;
  std::optional<std::string> file;  // of a call, as locations write it
  std::optional<int> line;
};

struct ThreadBars {
  std::string process, thread;
  std::vector<Bar> bars;
};

// Two runs that were merged have two beginnings: each thread's times are from that of its own run.
struct RunTimeline {
  uint64_t left_out = 0;  // events that have no bar: there were too many
  std::vector<ThreadBars> threads;
};

struct Location {
  std::string file;  // relative to the repository or package root where there is one
  int line = 0;
  std::optional<int> column;
  std::string function;
  bool operator==(const Location&) const = default;
};

struct SourceLine {
  int line = 0;
  std::string text;
};

struct Frame {
  FrameLanguage language = FrameLanguage::native;
  std::string file;  // empty when unknown
  int line = 0;
  std::string function, module;
  bool inlined = false;
};

struct Stack {
  StackRole role = StackRole::call;
  std::vector<Frame> frames;
};

struct FlowStep {
  std::string file;
  int line = 0;
  std::string message;
};

struct Suppressed {
  std::string reason;
  std::string origin;  // "model.cpp:12" | "suppressions.txt:3" | "capgate_allow"
};

// What a fault costs in one step, over the steps that count: a first pass that warms up, a step that did not
// end and the like are left out, each with the reason.
struct StepsLeftOut {
  uint64_t steps = 0;
  std::string why;  // "warm-up", "not finished", …
};
struct PerStep {
  uint64_t steps = 0;  // that count
  double count = 0;    // occurrences in one of them
  std::optional<double> blocked_us;
  std::vector<StepsLeftOut> left_out;
};

// Nodes of one graph that a fault is about, by their ids there.
struct NodesAtFault {
  std::string capture;
  std::vector<uint64_t> ids;
};

struct Violation {
  std::string id;    // filled by finish(); before it, any name that symptoms may use
  std::string rule;  // a rule of the catalogue
  Severity severity = Severity::error;
  std::string message;    // one line, what happened here
  std::string hint;       // the fix; finish() takes the situation's where empty
  std::string situation;  // filled by finish(): an id of the situation table ("host-sync.torch-item")
  std::vector<Evidence> evidence;
  Phase phase = Phase::capture;
  // The id of the violation that this one follows from: the branch on a value that another line read back. A
  // symptom does not count by itself, see causes.h.
  std::optional<std::string> symptom_of;
  std::optional<std::string> api, result;
  uint64_t count = 1;
  std::vector<int64_t> processes;
  std::optional<uint64_t> bytes;
  std::optional<double> blocked_us;
  std::optional<PerStep> per_step;
  std::optional<std::string> capture, stream, thread;
  std::vector<NodesAtFault> nodes;
  std::optional<int> device;
  Location location;
  std::vector<SourceLine> source;
  std::vector<Stack> stacks;
  std::vector<FlowStep> flow;
  // Free, but these are known to all views: "callee" (what is called, when that is not `api`; part of the
  // id), "region" (its name), "consequence" (what came of it, said in the heading in place of what follows
  // from phase and capture).
  std::map<std::string, std::string> details;
  std::optional<Suppressed> suppressed;
  std::optional<BaselineState> baseline;

  bool seen_by(Evidence kind) const {
    return std::find(evidence.begin(), evidence.end(), kind) != evidence.end();
  }
};

// Errors, warnings and notes are causes: what somebody has to change. `by_rule` counts symptoms too.
struct Summary {
  uint64_t errors = 0, warnings = 0, notes = 0, suppressed = 0, symptoms = 0;
  std::map<std::string, uint64_t> by_rule;
};

// What the comparison with a baseline came to (baseline/compare.h). Causes are counted.
struct Compared {
  std::string file;  // the baseline, as the user named it
  uint64_t new_errors = 0, known_errors = 0, new_warnings = 0, known_warnings = 0;
  uint64_t fixed = 0;  // faults of the baseline that the report no longer has
};

struct Report {
  std::string schema = kSchema;
  Tool tool;
  Verdict verdict = Verdict::inconclusive;
  std::vector<Reason> reasons;
  std::optional<Run> run;
  std::vector<Input> inputs;
  Subject subject;
  Environment environment;
  Coverage coverage;
  std::map<std::string, double> metrics;
  std::vector<Capture> captures;
  std::optional<RunTimeline> timeline;  // of a run, unless an older capgate judged it
  std::vector<Violation> violations;
  Summary summary;
  std::optional<Compared> compared;  // never written: a report's own marks are nobody's comparison

  // Of one of its violations.
  bool knows(const Violation& violation) const {
    return compared && violation.baseline == BaselineState::known;
  }
};

}  // namespace capgate::reports
