#include "static_checks/link/visit.h"

#include <algorithm>
#include <utility>

namespace capgate::lint {
namespace {

bool is_wait(const std::string& rule) {
  return rule == "host-sync" || rule == "host-poll" || rule == "sync-copy";
}
bool is_excused_by_relaxed_mode(const std::string& rule) {
  return rule == "device-alloc" || rule == "host-alloc" || rule == "host-poll";
}

bool is_allocation(const std::string& rule) {
  return rule == "device-alloc" || rule == "host-alloc";
}
bool is_of_captures(const std::string& rule) {  // an eager step may do it
  return rule == "default-stream" || rule == "local-scratch";
}
bool is_by_value(const std::string& rule) {
  return rule == "host-branch" || rule == "device-sized";
}

}  // namespace

std::vector<HostTest> remaining(std::vector<HostTest> tests, const std::vector<Counts>& given) {
  std::erase_if(
      tests, [&](const HostTest& test) { return counts::is_count(counts::resolved(test.decided, given)); });
  for (HostTest& test : tests) test.decided = 0;
  return tests;
}

std::vector<Counts> passed_on(std::vector<Counts> operands, const std::vector<Counts>& given) {
  for (Counts& one : operands) one = counts::passed_on(one, given);
  return operands;
}

std::vector<HostTest> both(std::vector<HostTest> outer, const std::vector<HostTest>& inner) {
  for (const HostTest& test : inner)
    if (std::find(outer.begin(), outer.end(), test) == outer.end()) outer.push_back(test);
  return outer;
}

Guards both(const Guards& a, const Guards& b) {
  return {a.not_capturing || b.not_capturing,
          a.relaxed_mode || b.relaxed_mode,
          a.eager_break || b.eager_break,
          a.relaxed_capture || b.relaxed_capture,
          a.marked || b.marked,
          a.first_use || b.first_use,
          a.failed || b.failed,
          a.pooled || b.pooled};
}

Explanation reached_from(const Visit& v, const Explanation& inside) {
  Explanation out = inside;
  out.region = v.region;
  out.path = v.path;
  out.path.insert(out.path.end(), inside.path.begin(), inside.path.end());
  if (v.guards.not_capturing)
    out.text += " (called only where a test says that nothing is being captured: not judged)";
  else if (v.guards.eager_break)
    out.text += " (called in an eager break: waits are notes, the rest is not judged)";
  else if (v.guards.first_use)
    out.text += " (called behind a guard that its code closes itself: at most a note)";
  return out;
}

NotAnalysed at_end_of(const Visit& v, NotAnalysed gap) {
  if (v.guards.failed && !gap.aside) {
    gap.reason += kOnlyOnFailure;
    gap.aside = true;
  }
  if (gap.aside) gap.region.clear();
  return gap;
}

NotAnalysed body_nowhere(const Visit& v) {
  return at_end_of(
      v, {v.callee, v.usr, v.path.back().place,
          v.is_virtual ? "neither its body nor one that overrides it is in the sources that were looked at"
                       : "its body is in none of the sources that were looked at",
          v.is_virtual ? "lint the sources of the classes that override it too, or call it outside the region"
                       : "lint the source that defines it too, or call it outside the region",
          v.region});
}

bool settle(Finding& finding, const Guards& guards) {
  if (guards.not_capturing) return false;
  if (guards.relaxed_mode && is_excused_by_relaxed_mode(finding.rule)) return false;
  if (guards.marked && is_of_captures(finding.rule)) return false;
  if ((guards.marked || guards.pooled) && finding.details.contains("allocator")) return false;
  if (guards.eager_break) {
    if (!is_wait(finding.rule)) return false;
    finding.severity = reports::Severity::note;
  } else if (guards.first_use && !is_by_value(finding.rule) && finding.severity != reports::Severity::note) {
    finding.severity = reports::Severity::note;
    finding.message += ", unless an earlier step has already done so";
  } else if (guards.relaxed_capture && is_allocation(finding.rule) &&
             finding.severity == reports::Severity::error) {
    finding.severity = reports::Severity::warning;
    finding.message += ": once, and never at replay";
  }
  return true;
}

}  // namespace capgate::lint
