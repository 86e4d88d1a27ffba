// One way that a region takes into a function of another unit.
#pragma once

#include <string>
#include <vector>

#include "static_checks/analysis.h"

namespace capgate::lint {

struct Visit {
  std::string origin;  // the unit of the region
  std::string caller;  // the unit of the call; empty after a dispatch
  std::string region;
  std::vector<FlowStep> path;
  Guards guards;
  std::string usr, callee;
  size_t depth = 0;
  std::vector<HostTest> tests = {};
  bool is_virtual = false;         // a call by dispatch
  std::vector<Counts> given = {};  // which of the callee's parameters are counts

  // The unit of a call has judged its own bodies in their context. That of the region has seen what it calls
  // itself, not what others call in it on their way.
  bool has_judged(const std::string& unit) const {
    return (depth == 0 && unit == origin) || (!caller.empty() && unit == caller);
  }
};

// Those that still decide something: of what the callers count, they rule nothing out.
std::vector<HostTest> remaining(std::vector<HostTest> tests, const std::vector<Counts>& given);
std::vector<Counts> passed_on(std::vector<Counts> operands, const std::vector<Counts>& given);
std::vector<HostTest> both(std::vector<HostTest> outer, const std::vector<HostTest>& inner);
Guards both(const Guards& a, const Guards& b);

// What was met inside the function, behind the way that leads to it.
Explanation reached_from(const Visit& v, const Explanation& inside);
// What is not analysed behind a call that failed is named, and no reason: there is no capture left to prove.
NotAnalysed at_end_of(const Visit& v, NotAnalysed gap);
// That no unit has the body of what it leads to.
NotAnalysed body_nowhere(const Visit& v);
// How severe a fault is that the way leads to: `guards` are those of the way and of the fault. False: it is
// none there.
bool settle(Finding& finding, const Guards& guards);

}  // namespace capgate::lint
