// A finding of the static pass, and the places it speaks of.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reports/model/report.h"
#include "static_checks/model/counts.h"

namespace capgate::lint {

// A place in a source file. Macro code is placed where the outermost macro is used.
struct Place {
  std::string file;  // canonical absolute path (Unit::path_of); the report shortens it to the repository
  int line = 0;      // from 1
  int column = 0;    // from 1; 0 = unknown
  auto operator<=>(const Place&) const = default;
};
template <class A>
void fields(A& archive, Place& v) {
  archive(v.file, v.line, v.column);
}

// One step on the way from the cause to the fault: the copy, what carries the value, the call that leads on,
// the branch. In order of execution or of the call path; the last step may be the finding's own place.
struct FlowStep {
  Place place;
  std::string message;  // "'count' receives a device value from cudaMemcpyAsync"
  bool operator==(const FlowStep&) const = default;
};
template <class A>
void fields(A& archive, FlowStep& v) {
  archive(v.place, v.message);
}

// One comparison of a host value that decides whether code runs: `cfg.level > 2`.
struct TestTerm {
  std::string text;      // as written: "cfg.level"
  std::string key;       // for people, in full: "Config::level", "getenv(DEBUG_SYNC)"; empty: no single value
  std::string id;        // of what is stored, the same in all units; empty: of no variable or member
  std::string relation;  // between it and `value`: "!=", ">"
  int64_t value = 0;
  bool has_initial = false;
  int64_t initial = 0;  // what it holds unless something sets it
  bool operator==(const TestTerm&) const = default;
};
template <class A>
void fields(A& archive, TestTerm& v) {
  archive(v.text, v.key, v.id, v.relation, v.value, v.has_initial, v.initial);
}

// A test of host values on the way to a finding. It holds where all its terms do, or where any of them does.
struct HostTest {
  Place place;
  std::string text;  // "cfg.debug", "!graph_ready"
  bool all = true;
  bool in_no_capture = false;  // that the captured stream is null
  std::vector<TestTerm> terms = {};
  Counts decided = 0;  // by which parameters of the function that it is told of
  bool operator==(const HostTest&) const = default;
};
template <class A>
void fields(A& archive, HostTest& v) {
  archive(v.place, v.text, v.all, v.in_no_capture, v.terms, v.decided);
}

// An error that only some settings of the program come to is a warning.
inline reports::Severity severity_behind(const std::vector<HostTest>& tests, reports::Severity severity) {
  for (const HostTest& test : tests)
    if (test.in_no_capture) return reports::Severity::note;
  return !tests.empty() && severity == reports::Severity::error ? reports::Severity::warning : severity;
}

struct Finding {
  std::string rule;                                       // an id of the catalogue
  reports::Severity severity = reports::Severity::error;  // final: regions have been taken into account
  std::string message;                                    // one line, what happens here
  std::string hint;      // the fix for this very place; empty: the catalogue's
  Place place;           // the line that a suppression comment must be at
  std::string function;  // qualified, without template arguments, parameters or lambda numbers
  std::string
      callee;  // the API or function called at the place; empty for a branch. Part of the finding's id
  std::string region;  // name of the region that makes it a fault; empty: found by whole-file
  std::vector<FlowStep> flow;
  std::map<std::string, std::string> details;  // what a rule adds ("source": "cudaMemcpyAsync", …)
  Place origin;                  // of a finding about a device value: the call that brought it to the host
  std::vector<Place> waits_for;  // of a wait: the copies to the host that it is for
  std::vector<HostTest> tests;   // it happens only where all of these hold; from the outside in
};
template <class A>
void fields(A& archive, Finding& v) {
  archive(v.rule, v.severity, v.message, v.hint, v.place, v.function, v.callee, v.region, v.flow, v.details,
          v.origin, v.waits_for, v.tests);
}

}  // namespace capgate::lint
