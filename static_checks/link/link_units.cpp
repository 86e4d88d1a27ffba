// Follows regions across units: from the calls that leave a region, by USR, through the functions of other
// units, to what a capture would refuse there.
#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>

#include "static_checks/analysis.h"
#include "static_checks/link/ways.h"

namespace capgate::lint {
namespace {

constexpr size_t kMaxDepth = 16;  // units deep
constexpr size_t kMaxWays = 4;    // to one function, each behind tests of its own

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

// What was met inside the function, behind the way that leads to it.
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

// What is not analysed behind a call that failed is named, and no reason: there is no capture left to prove.
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

// Of the regions that functions leave open which nothing in their unit calls, those that no other unit goes
// on with either.
void add_left_open(const std::vector<UnitSummary>& units, std::vector<NotAnalysed>& not_analysed) {
  std::set<std::string> continued;
  for (const UnitSummary& unit : units) continued.insert(unit.continued.begin(), unit.continued.end());
  std::set<std::pair<Place, std::string>> told;
  for (const UnitSummary& unit : units)
    for (const LeftOpen& left : unit.left_open) {
      const OpenPlace& open = left.open;
      if (!left.usr.empty() && continued.contains(left.usr)) continue;
      if (!told.emplace(open.place, open.reason).second) continue;  // a header's, once for each unit
      not_analysed.push_back({open.function, left.usr, open.place, open.reason, open.remedy, open.region});
      not_analysed.back().whole = true;
    }
}

using Bodies = std::map<std::string, std::vector<std::pair<std::string, const FunctionSummary*>>>;

// The unit of a virtual call sees that overrider itself, and has judged it there.
bool dispatched_by(const Bodies& functions, const std::string& unit, const std::string& base,
                   const std::string& overrider) {
  const auto found = functions.find(base);
  if (found == functions.end()) return false;
  for (const auto& [file, body] : found->second)
    if (file == unit && body->dispatch)
      for (const CallSite& call : body->calls)
        if (call.callee_usr == overrider) return true;
  return false;
}

// Of the templates in which a region begins, those of which no unit has seen what clang made of them, each
// once: they are judged as they are written.
using Exits = std::vector<std::pair<std::string, const RegionExit*>>;
std::vector<const PatternSummary*> patterns_alone(const std::vector<UnitSummary>& units, Exits& exits) {
  std::set<Place> instantiated;
  std::map<Place, std::pair<const UnitSummary*, const PatternSummary*>> alone;
  for (const UnitSummary& unit : units)
    for (const PatternSummary& pattern : unit.patterns)
      if (pattern.instantiated) instantiated.insert(pattern.place);
  for (const UnitSummary& unit : units)
    for (const PatternSummary& pattern : unit.patterns) {
      if (instantiated.contains(pattern.place)) continue;
      auto& known = alone[pattern.place];
      if (!known.first || unit.main_file < known.first->main_file) known = {&unit, &pattern};
    }
  std::vector<const PatternSummary*> patterns;
  for (const auto& [place, from] : alone) {
    patterns.push_back(from.second);
    for (const RegionExit& exit : from.second->exits) exits.emplace_back(from.first->main_file, &exit);
  }
  return patterns;
}

}  // namespace

LinkResult link_units(const std::vector<UnitSummary>& units) {
  // A function of a header has a body in several units, a virtual method its overriders in several: all
  // count.
  Bodies functions;
  std::set<std::string> silent;
  Exits exits;
  for (const UnitSummary& unit : units) {
    for (const FunctionSummary& f : unit.functions)
      if (!f.internal && !f.usr.empty()) functions[f.usr].emplace_back(unit.main_file, &f);
    silent.insert(unit.silent.begin(), unit.silent.end());
    for (const RegionExit& exit : unit.exits) exits.emplace_back(unit.main_file, &exit);
  }
  const std::vector<const PatternSummary*> patterns = patterns_alone(units, exits);
  std::stable_sort(exits.begin(), exits.end(), [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    if (a.second->region != b.second->region) return a.second->region < b.second->region;
    return a.second->call.place < b.second->call.place;
  });

  for (auto& [usr, bodies] : functions)
    std::stable_sort(bodies.begin(), bodies.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });

  LinkResult result;
  std::deque<Visit> queue;
  for (const auto& [file, exit] : exits) {
    Visit v{file,
            file,
            exit->region,
            exit->path,
            exit->call.guards,
            exit->call.callee_usr,
            exit->call.callee,
            0,
            exit->call.tests,
            exit->call.is_virtual,
            passed_on(exit->call.given, {})};
    v.path.push_back({exit->call.place, "calls " + exit->call.callee + "()"});
    queue.push_back(std::move(v));
  }
  // Breadth first: the shortest path to a fault is the one that is told.
  std::map<std::tuple<std::string, std::string, std::string, Guards, std::vector<Counts>>,
           std::vector<std::vector<HostTest>>>
      seen;
  std::map<std::tuple<std::string, Place, std::string>, size_t> told;  // where in the findings
  std::set<std::string> gaps;
  std::set<std::tuple<std::string, Place, std::string>> explained;
  while (!queue.empty()) {
    Visit v = std::move(queue.front());
    queue.pop_front();
    if (v.depth > kMaxDepth) {
      if (!v.guards.not_capturing && !v.guards.eager_break && !silent.contains(v.usr) &&
          gaps.insert(v.usr).second)
        result.not_analysed.push_back(
            {v.callee, v.usr, v.path.back().place,
             "calls are followed through " + std::to_string(kMaxDepth) + " sources, and it is called beyond",
             "call it nearer to where the capture begins", v.region});
      continue;
    }
    const auto found = functions.find(v.usr);
    if (found != functions.end())
      for (const auto& [file, body] : found->second) {
        if (v.has_judged(file)) continue;
        for (const Explanation& inside : body->explanations)
          if (explained.emplace(inside.text, inside.place, v.region).second)
            result.explanations.push_back(reached_from(v, inside));
      }
    if (v.guards.not_capturing) continue;
    if (found == functions.end()) {
      if (!silent.contains(v.usr) && !v.guards.eager_break &&
          gaps.insert(v.usr + (v.guards.failed ? " failed" : "")).second)
        result.not_analysed.push_back(body_nowhere(v));
      continue;
    }
    std::vector<std::vector<HostTest>>& ways = seen[{v.usr, v.origin, v.caller, v.guards, v.given}];
    if ((ways.size() >= kMaxWays && !v.tests.empty()) ||
        std::any_of(ways.begin(), ways.end(), [&](const auto& known) { return is_behind(v.tests, known); }))
      continue;
    ways.push_back(v.tests);
    for (const auto& [file, body] : found->second) {
      const FunctionSummary& f = *body;
      if (v.has_judged(file)) continue;
      for (const OpenPlace& open : f.open)
        if (gaps.insert((open.aside ? "" : f.usr) + '\0' + open.function + '\0' + open.reason +
                        (v.guards.failed ? " failed" : ""))
                .second)
          result.not_analysed.push_back(at_end_of(
              v, {open.function, f.usr, open.place, open.reason, open.remedy, v.region, open.aside}));
      for (const LatentFinding& latent : f.latent) {
        const Guards guards = both(v.guards, latent.guards);
        if (guards.not_capturing) continue;
        if (guards.relaxed_mode && is_excused_by_relaxed_mode(latent.finding.rule)) continue;
        Finding finding = latent.finding;
        if (guards.marked && is_of_captures(finding.rule)) continue;
        if ((guards.marked || guards.pooled) && finding.details.contains("allocator")) continue;
        if (guards.eager_break) {
          if (!is_wait(finding.rule)) continue;
          finding.severity = reports::Severity::note;
        } else if (guards.first_use && !is_by_value(finding.rule) &&
                   finding.severity != reports::Severity::note) {
          finding.severity = reports::Severity::note;
          finding.message += ", unless an earlier step has already done so";
        } else if (guards.relaxed_capture && is_allocation(finding.rule) &&
                   finding.severity == reports::Severity::error) {
          finding.severity = reports::Severity::warning;
          finding.message += ": once, and never at replay";
        }
        finding.tests = both(v.tests, remaining(finding.tests, v.given));
        const reports::Severity own = finding.severity;
        finding.severity = severity_behind(finding.tests, own);
        const auto [at, fresh] =
            told.try_emplace({finding.rule, finding.place, finding.callee}, result.findings.size());
        // A way without a test counts for more than one that came first.
        if (!fresh && finding.severity >= result.findings[at->second].severity) {
          Finding& known = result.findings[at->second];
          if (leave_out_opposite(known.tests, finding.tests))
            known.severity = std::min(known.severity, severity_behind(known.tests, own));
          continue;
        }
        finding.region = v.region;
        // A value's way is told by itself; a call's begins at the region.
        if (!is_by_value(finding.rule)) {
          std::vector<FlowStep> flow = v.path;
          flow.insert(flow.end(), finding.flow.begin(), finding.flow.end());
          finding.flow = std::move(flow);
        }
        if (fresh)
          result.findings.push_back(std::move(finding));
        else
          result.findings[at->second] = std::move(finding);
      }
      for (const CallSite& call : f.calls) {
        if (f.dispatch && dispatched_by(functions, v.caller, f.usr, call.callee_usr)) continue;
        Visit next{v.origin,
                   f.dispatch ? std::string() : file,
                   v.region,
                   v.path,
                   both(v.guards, call.guards),
                   call.callee_usr,
                   call.callee,
                   v.depth + 1,
                   both(v.tests, remaining(call.tests, v.given)),
                   call.is_virtual,
                   f.dispatch ? v.given : passed_on(call.given, v.given)};
        next.path.push_back({call.place, "calls " + call.callee + "()"});
        queue.push_back(std::move(next));
      }
    }
  }
  for (const PatternSummary* pattern : patterns) {
    for (const Finding& finding : pattern->findings)
      if (told.try_emplace({finding.rule, finding.place, finding.callee}, result.findings.size()).second)
        result.findings.push_back(finding);
    for (const OpenPlace& open : pattern->open)
      result.not_analysed.push_back({open.function, "", open.place, open.reason, open.remedy, open.region});
    for (const OpenPlace& open : pattern->left_open) {
      result.not_analysed.push_back({open.function, "", open.place, open.reason, open.remedy, open.region});
      result.not_analysed.back().whole = true;
    }
  }
  add_left_open(units, result.not_analysed);
  std::stable_sort(result.findings.begin(), result.findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.place, a.rule, a.callee) < std::tie(b.place, b.rule, b.callee);
  });
  return result;
}

}  // namespace capgate::lint
