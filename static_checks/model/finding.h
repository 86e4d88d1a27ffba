// A finding of the static pass, and the places it speaks of.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reports/model/report.h"

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
};
template <class A>
void fields(A& archive, Finding& v) {
  archive(v.rule, v.severity, v.message, v.hint, v.place, v.function, v.callee, v.region, v.flow, v.details,
          v.origin, v.waits_for);
}

}  // namespace capgate::lint
