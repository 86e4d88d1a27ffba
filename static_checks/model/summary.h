// What one unit tells the others: which function calls which, and what in them a capture would refuse. The
// second phase joins these by USR, so that a region in one file reaches a wait in another.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "static_checks/model/explanation.h"
#include "static_checks/model/finding.h"

namespace capgate::lint {

// What stands between a call and a capture. Any one of them makes the call clean in a region for the rules it
// names in rules.md: code that runs only when nothing is captured, the capture-mode push/pop idiom, an eager
// break.
struct Guards {
  bool not_capturing = false;    // behind a test of cudaStreamIsCapturing / cudaStreamGetCaptureInfo
  bool relaxed_mode = false;     // between cudaThreadExchangeStreamCaptureMode(relaxed) and its restoration
  bool eager_break = false;      // between capgate_eager_break_begin and _end
  bool relaxed_capture = false;  // the capture was begun in relaxed mode
  bool marked = false;           // the region is a marked step, no capture
  bool first_use = false;        // behind a guard that the guarded code closes
  bool failed = false;           // where a call of CUDA has failed: the capture is lost, whatever is called
  bool pooled = false;           // torch may keep what is allocated for the graph
  auto operator<=>(const Guards&) const = default;
};
template <class A>
void fields(A& archive, Guards& v) {
  archive(v.not_capturing, v.relaxed_mode, v.eager_break, v.relaxed_capture, v.marked, v.first_use, v.failed,
          v.pooled);
}

// Behind the reason of what is not analysed there.
inline constexpr const char* kOnlyOnFailure = ", and only where a call of CUDA has failed";

// A call to a function that this unit may not have the body of.
struct CallSite {
  std::string callee_usr;
  std::string callee;  // qualified name, for messages
  Place place;
  Guards guards;
  std::vector<HostTest> tests = {};  // it is made only where all of these hold
  std::vector<Counts> given = {};    // what its arguments are, as counts of the function that makes it
  bool is_virtual = false;           // the callee is a virtual method: what overrides it may be called
};
template <class A>
void fields(A& archive, CallSite& v) {
  archive(v.callee_usr, v.callee, v.place, v.guards, v.tests, v.given, v.is_virtual);
}

// A finding that becomes true if a region reaches the function it is in. `finding.region` is empty and its
// flow holds only the steps inside the function; the second phase puts the call path before them.
struct LatentFinding {
  Finding finding;
  Guards guards;
};
template <class A>
void fields(A& archive, LatentFinding& v) {
  archive(v.finding, v.guards);
}

// A function that begins a region and returns with it open, or ends one that it did not begin.
struct CaptureEdge {
  std::string usr;
  uint8_t begins = 0;  // 1: always; 2: where it returns true; 3: where it returns false, 0 or success
  bool ends = false;
  // The region that it begins: a marked step; a relaxed capture; one whose tensors torch may keep.
  bool marked = false, relaxed = false, pooled = true;
  auto operator<=>(const CaptureEdge&) const = default;
};
template <class A>
void fields(A& archive, CaptureEdge& v) {
  archive(v.usr, v.begins, v.ends, v.marked, v.relaxed, v.pooled);
}

// What could not be judged: fields as of NotAnalysed.
struct OpenPlace {
  std::string function;
  Place place;
  std::string reason, remedy, region;
  bool aside = false;
};
template <class A>
void fields(A& archive, OpenPlace& v) {
  archive(v.function, v.place, v.reason, v.remedy, v.region, v.aside);
}

// A function with a body in this unit (user sources only).
struct FunctionSummary {
  std::string usr;
  std::string name;  // qualified
  Place place;
  bool dispatch = false;        // a virtual method, and `calls` are what overrides it in this unit
  bool internal = false;        // internal linkage: its USR means nothing in another unit
  std::vector<OpenPlace> open;  // what makes the run inconclusive once a region reaches the function
  std::vector<CallSite> calls;
  std::vector<LatentFinding> latent;
  std::vector<Explanation> explanations;  // true once a region reaches the function
};
template <class A>
void fields(A& archive, FunctionSummary& v) {
  archive(v.usr, v.name, v.place, v.dispatch, v.internal, v.open, v.calls, v.latent, v.explanations);
}

// A call that leaves a region of this unit for a function whose body is not here: where the second phase goes
// on.
struct RegionExit {
  std::string region;          // Region::name
  std::vector<FlowStep> path;  // from the region's begin to the call, call steps included
  CallSite call;
};
template <class A>
void fields(A& archive, RegionExit& v) {
  archive(v.region, v.path, v.call);
}

// A template in which a region begins.
struct PatternSummary {
  Place place;  // of the function, the same for all that is made of it
  bool instantiated =
      false;  // this unit has seen what clang made of it; else, of the pattern as it is written:
  std::vector<Finding> findings;
  std::vector<OpenPlace> open;
  std::vector<RegionExit> exits;
  std::vector<OpenPlace> left_open;  // as LeftOpen::open
};
template <class A>
void fields(A& archive, PatternSummary& v) {
  archive(v.place, v.instantiated, v.findings, v.open, v.exits, v.left_open);
}

// A function that returns with a region open, and that nothing in its unit calls.
struct LeftOpen {
  std::string usr;  // empty where it means nothing in another unit
  OpenPlace open;   // its reason is a sentence of its own
};
template <class A>
void fields(A& archive, LeftOpen& v) {
  archive(v.usr, v.open);
}

// Who calls whom, of all functions with a body here and of the virtual methods that they override: what the
// second phase asks to know which functions regions reach, silent ones and internal ones included.
struct CallGraph {
  struct Node {
    std::string usr;
    uint32_t file = 0;  // CallGraph::files
    int line = 0;       // 0: no body here
    bool internal = false;
    bool in_region = false;           // a region of this unit holds code of it, or a call to it
    uint64_t calls_met = 0;           // calls in its body that a region comes to, if one reaches it
    uint64_t foreign_met = 0;         // of these, those to other projects' functions
    std::vector<uint32_t> calls;      // indices of nodes
    std::vector<std::string> leaves;  // USRs of what has no body here
  };
  std::vector<std::string> files;
  std::vector<Node> nodes;
};
template <class A>
void fields(A& archive, CallGraph::Node& v) {
  archive(v.usr, v.file, v.line, v.internal, v.in_region, v.calls_met, v.foreign_met, v.calls, v.leaves);
}
template <class A>
void fields(A& archive, CallGraph& v) {
  archive(v.files, v.nodes);
}

struct UnitSummary {
  std::string main_file;
  std::vector<FunctionSummary> functions;
  std::vector<RegionExit> exits;
  std::vector<std::string> silent;  // USRs of the other functions with a body here: they do nothing of note
  std::vector<CaptureEdge> edges;
  std::vector<PatternSummary> patterns;
  std::vector<LeftOpen> left_open;
  std::vector<std::string> continued;  // USRs of functions that begin a region with which callers here go on
  std::vector<std::string> outside;    // USRs of functions that are called here and have no body here
  std::vector<std::string> set;        // ids of the variables and members that something here may set
  bool has_main = false;
  CallGraph graph;
};
template <class A>
void fields(A& archive, UnitSummary& v) {
  archive(v.main_file, v.functions, v.exits, v.silent, v.edges, v.patterns, v.left_open, v.continued,
          v.outside, v.set, v.has_main, v.graph);
}

}  // namespace capgate::lint
