// What `capgate lint --explain FILE:LINE` and `--dump-tree FUNCTION` report: for people who want to know why
// something is or is not a finding.
#pragma once

#include <string>
#include <vector>

#include "static_checks/model/finding.h"

namespace capgate::lint {

// One thing that the analysis met on the line.
struct Explanation {
  Place place;
  std::string function;
  std::string text;             // "calls cudaMemcpyAsync, modelled as copy"
  std::vector<FlowStep> value;  // how the device value in it got there
  std::string region;           // empty: reached outside every region
  std::vector<FlowStep> path;   // from the region's begin, or from the first function, to this one
};
template <class A>
void fields(A& archive, Explanation& v) {
  archive(v.place, v.function, v.text, v.value, v.region, v.path);
}

// A function whose body holds the line.
struct ExplainedFunction {
  std::string name, usr;
  Place place;
  int end_line = 0;
  std::vector<std::string> notes;  // what is true of it in this unit: "is a template: …"
};
template <class A>
void fields(A& archive, ExplainedFunction& v) {
  archive(v.name, v.usr, v.place, v.end_line, v.notes);
}

struct LoweredTree {
  std::string function;
  Place place;
  std::string text;  // lines
};
template <class A>
void fields(A& archive, LoweredTree& v) {
  archive(v.function, v.place, v.text);
}

}  // namespace capgate::lint
