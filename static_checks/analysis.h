// The static pass in two phases. `analyze_unit` looks at one parsed unit in a worker process; `link_units`
// follows regions across units in the parent. Between them everything travels as bytes (model/archive.h),
// through a pipe and through the cache: a result must therefore depend on nothing but the unit and the
// options.
//
// Build: `analyze_unit` lives in the target `capgate_lint_interpret`, which links clang and only the
// worker links; `link_units` in the target `capgate_lint_link`, which must not need clang, since the
// capgate program links it. A new field of a struct here is added to the struct and to its `fields` list,
// nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "static_checks/model/archive.h"
#include "static_checks/model/explanation.h"
#include "static_checks/model/finding.h"
#include "static_checks/model/summary.h"

namespace capgate::lint {

struct Unit;  // frontend/unit.h

// Everything of the command line that may change what analyze_unit finds. All of it is part of the cache key.
struct LintOptions {
  bool whole_file = false;   // findings outside regions too (as warnings)
  uint64_t budget = 200000;  // function bodies interpreted a unit before the analysis stops and says so
  std::vector<std::string>
      source_tables;                 // the user's additions to the table of sources: JSON text, not paths
  std::vector<std::string> regions;  // globs of the NVTX ranges (default domain) that are regions
  std::vector<CaptureEdge> edges;    // functions of other units that begin or end a region, in order
  std::string
      dump_tree;  // a function, with or without its namespaces, whose lowered tree is wanted; or empty
  Place explain;  // a line to be explained; line 0: none
};
template <class A>
void fields(A& archive, LintOptions& v) {
  archive(v.whole_file, v.budget, v.source_tables, v.regions, v.edges, v.dump_tree, v.explain);
}

// Code that will be captured. `name` is unique in the unit and means something to a reader: the annotated
// function, or "capture at decode.cu:120".
struct Region {
  std::string name;
  std::string kind;  // capture (begin/end) | guard (RAII) | annotated | marked (capgate_region_begin/end)
  std::string function;
  Place begin;
  int end_line = 0;
  // One region that a function of another unit opens is seen in both: there as open when it returns, here as
  // begun by the call. The functions' USRs, or empty.
  // NOLINTNEXTLINE(readability-redundant-member-init): GCC warns of initialisers that end before them
  std::string opened_by{}, begun_through{};
};
template <class A>
void fields(A& archive, Region& v) {
  archive(v.name, v.kind, v.function, v.begin, v.end_line, v.opened_by, v.begun_through);
}

// A function that could not be judged: parse trouble inside it, the budget, recursion that did not settle.
struct NotAnalysed {
  std::string function;  // qualified
  std::string usr;
  Place place;
  std::string reason;  // one clause: "the parser found an error at line 31: unknown type name 'foo_t'"
  std::string remedy;  // a command or an edit; empty: the driver's general one
  std::string region;  // the region that reaches it; only with one does it make the run inconclusive
  bool aside = false;  // worth naming, never a reason: another project's code
  bool whole = false;  // `reason` is a sentence that names the function itself
};
template <class A>
void fields(A& archive, NotAnalysed& v) {
  archive(v.function, v.usr, v.place, v.reason, v.remedy, v.region, v.aside, v.whole);
}

struct UnitResult {
  std::vector<Finding> findings;  // of this unit alone, ordered by place, none twice
  std::vector<Region> regions;
  uint64_t functions_analysed = 0;  // user functions with a body
  std::vector<NotAnalysed> not_analysed;
  UnitSummary summary;
  std::vector<LoweredTree> trees;            // of LintOptions::dump_tree
  std::vector<ExplainedFunction> explained;  // that hold the line of LintOptions::explain
  std::vector<Explanation> explanations;     // of it
};
template <class A>
void fields(A& archive, UnitResult& v) {
  archive(v.findings, v.regions, v.functions_analysed, v.not_analysed, v.summary, v.trees, v.explained,
          v.explanations);
}

// Never throws; a construct that it does not understand ends in `not_analysed`, not in silence.
UnitResult analyze_unit(const Unit& unit, const LintOptions& options);

// Of the functions that begin or end a region for their callers, those that `unit` calls and has no body of:
// what its LintOptions::edges should be. `edges` by USR.
std::vector<CaptureEdge> edges_that_concern(const UnitSummary& unit,
                                            const std::map<std::string, CaptureEdge>& edges);

// What the regions reach in other units. The result does not depend on the order of `units`.
struct LinkResult {
  std::vector<Finding> findings;
  std::vector<NotAnalysed> not_analysed;
  std::set<Place> into_nothing;  // calls of functions whose body no unit has
  std::vector<Explanation> explanations;
};
LinkResult link_units(const std::vector<UnitSummary>& units);

// Where the functions are that regions reach, in all units; more rather than fewer: what a function may call
// counts as called.
struct RegionReach {
  std::set<Place> functions;       // file and line of each
  std::set<std::string> in_units;  // main files of the units that hold one
  uint64_t calls = 0;              // in them, each place of a source once
  uint64_t foreign_calls = 0;      // of these, those to other projects' functions
};
RegionReach reach_of_regions(const std::vector<UnitSummary>& units);

}  // namespace capgate::lint
