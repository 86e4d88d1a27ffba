// Follows regions across units: from the calls that leave a region, by USR, through the functions of other
// units, to what a capture would refuse there.
#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include "static_checks/analysis.h"
#include "static_checks/link/patterns.h"
#include "static_checks/link/visit.h"
#include "static_checks/link/ways.h"

namespace capgate::lint {
namespace {

constexpr size_t kMaxDepth = 16;  // units deep
constexpr size_t kMaxWays = 4;    // to one function, each behind tests of its own

bool is_told_by_its_value(const std::string& rule) {
  return rule == "host-branch" || rule == "device-sized";
}

class Linker {
 public:
  explicit Linker(const std::vector<UnitSummary>& units) : units_(units) {}
  LinkResult run();

 private:
  // By USR: each body, with the main file of its unit.
  using Bodies = std::map<std::string, std::vector<std::pair<std::string, const FunctionSummary*>>>;

  void collect();
  void begin();
  void follow(const Visit& v);
  bool is_too_deep(const Visit& v);
  void explain(const Visit& v, const Bodies::mapped_type& bodies);
  bool is_news(const Visit& v);
  void look_at(const Visit& v, const std::string& file, const FunctionSummary& f);
  void judge(const Visit& v, const LatentFinding& latent);
  void add_patterns();
  bool dispatched_by(const std::string& unit, const std::string& base, const std::string& overrider) const;

  const std::vector<UnitSummary>& units_;
  // A function of a header has a body in several units, a virtual method its overriders in several: all
  // count.
  Bodies functions_;
  std::set<std::string> silent_;
  Exits exits_;
  std::vector<const PatternSummary*> patterns_;
  // Breadth first: the shortest path to a fault is the one that is told.
  std::deque<Visit> queue_;
  std::map<std::tuple<std::string, std::string, std::string, Guards, std::vector<Counts>>,
           std::vector<std::vector<HostTest>>>
      seen_;
  std::map<std::tuple<std::string, Place, std::string>, size_t> told_;  // where in the findings
  std::set<std::string> gaps_;
  std::set<std::tuple<std::string, Place, std::string>> explained_;
  LinkResult result_;
};

void Linker::collect() {
  for (const UnitSummary& unit : units_) {
    for (const FunctionSummary& f : unit.functions)
      if (!f.internal && !f.usr.empty()) functions_[f.usr].emplace_back(unit.main_file, &f);
    silent_.insert(unit.silent.begin(), unit.silent.end());
    for (const RegionExit& exit : unit.exits) exits_.emplace_back(unit.main_file, &exit);
  }
  patterns_ = patterns_alone(units_, exits_);
  std::stable_sort(exits_.begin(), exits_.end(), [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    if (a.second->region != b.second->region) return a.second->region < b.second->region;
    return a.second->call.place < b.second->call.place;
  });
  for (auto& [usr, bodies] : functions_)
    std::stable_sort(bodies.begin(), bodies.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
}

void Linker::begin() {
  for (const auto& [file, exit] : exits_) {
    const CallSite& call = exit->call;
    Visit v{file,
            file,
            exit->region,
            exit->path,
            call.guards,
            call.callee_usr,
            call.callee,
            0,
            call.tests,
            call.is_virtual,
            passed_on(call.given, {})};
    v.path.push_back({call.place, "calls " + call.callee + "()"});
    queue_.push_back(std::move(v));
  }
}

// The unit of a virtual call sees that overrider itself, and has judged it there.
bool Linker::dispatched_by(const std::string& unit, const std::string& base,
                           const std::string& overrider) const {
  const auto found = functions_.find(base);
  if (found == functions_.end()) return false;
  for (const auto& [file, body] : found->second)
    if (file == unit && body->dispatch)
      for (const CallSite& call : body->calls)
        if (call.callee_usr == overrider) return true;
  return false;
}

bool Linker::is_too_deep(const Visit& v) {
  if (v.depth <= kMaxDepth) return false;
  if (!v.guards.not_capturing && !v.guards.eager_break && !silent_.contains(v.usr) &&
      gaps_.insert(v.usr).second)
    result_.not_analysed.push_back(
        {v.callee, v.usr, v.path.back().place,
         "calls are followed through " + std::to_string(kMaxDepth) + " sources, and it is called beyond",
         "call it nearer to where the capture begins", v.region});
  return true;
}

void Linker::explain(const Visit& v, const Bodies::mapped_type& bodies) {
  for (const auto& [file, body] : bodies) {
    if (v.has_judged(file)) continue;
    for (const Explanation& inside : body->explanations)
      if (explained_.emplace(inside.text, inside.place, v.region).second)
        result_.explanations.push_back(reached_from(v, inside));
  }
}

// Whether no way like it has led there.
bool Linker::is_news(const Visit& v) {
  std::vector<std::vector<HostTest>>& ways = seen_[{v.usr, v.origin, v.caller, v.guards, v.given}];
  if ((ways.size() >= kMaxWays && !v.tests.empty()) ||
      std::any_of(ways.begin(), ways.end(), [&](const auto& known) { return is_behind(v.tests, known); }))
    return false;
  ways.push_back(v.tests);
  return true;
}

void Linker::follow(const Visit& v) {
  if (is_too_deep(v)) return;
  const auto found = functions_.find(v.usr);
  if (found != functions_.end()) explain(v, found->second);
  if (v.guards.not_capturing) return;
  if (found == functions_.end()) {
    if (silent_.contains(v.usr) || v.guards.eager_break) return;
    if (!v.guards.failed) result_.into_nothing.insert(v.path.back().place);
    if (gaps_.insert(v.usr + (v.guards.failed ? " failed" : "")).second)
      result_.not_analysed.push_back(body_nowhere(v));
    return;
  }
  if (!is_news(v)) return;
  for (const auto& [file, body] : found->second)
    if (!v.has_judged(file)) look_at(v, file, *body);
}

void Linker::look_at(const Visit& v, const std::string& file, const FunctionSummary& f) {
  for (const OpenPlace& open : f.open)
    if (gaps_
            .insert((open.aside ? "" : f.usr) + '\0' + open.function + '\0' + open.reason +
                    (v.guards.failed ? " failed" : ""))
            .second)
      result_.not_analysed.push_back(
          at_end_of(v, {open.function, f.usr, open.place, open.reason, open.remedy, v.region, open.aside}));
  for (const LatentFinding& latent : f.latent) judge(v, latent);
  for (const CallSite& call : f.calls) {
    if (f.dispatch && dispatched_by(v.caller, f.usr, call.callee_usr)) continue;
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
    queue_.push_back(std::move(next));
  }
}

void Linker::judge(const Visit& v, const LatentFinding& latent) {
  Finding finding = latent.finding;
  if (!settle(finding, both(v.guards, latent.guards))) return;
  finding.tests = both(v.tests, remaining(finding.tests, v.given));
  const reports::Severity own = finding.severity;
  finding.severity = severity_behind(finding.tests, own);
  const auto [at, fresh] =
      told_.try_emplace({finding.rule, finding.place, finding.callee}, result_.findings.size());
  // A way without a test counts for more than one that came first.
  if (!fresh && finding.severity >= result_.findings[at->second].severity) {
    Finding& known = result_.findings[at->second];
    if (leave_out_opposite(known.tests, finding.tests))
      known.severity = std::min(known.severity, severity_behind(known.tests, own));
    return;
  }
  finding.region = v.region;
  // A value's way is told by itself; a call's begins at the region.
  if (!is_told_by_its_value(finding.rule)) {
    std::vector<FlowStep> flow = v.path;
    flow.insert(flow.end(), finding.flow.begin(), finding.flow.end());
    finding.flow = std::move(flow);
  }
  if (fresh)
    result_.findings.push_back(std::move(finding));
  else
    result_.findings[at->second] = std::move(finding);
}

void Linker::add_patterns() {
  for (const PatternSummary* pattern : patterns_) {
    for (const Finding& finding : pattern->findings)
      if (told_.try_emplace({finding.rule, finding.place, finding.callee}, result_.findings.size()).second)
        result_.findings.push_back(finding);
    for (const OpenPlace& open : pattern->open)
      result_.not_analysed.push_back({open.function, "", open.place, open.reason, open.remedy, open.region});
    for (const OpenPlace& open : pattern->left_open) {
      result_.not_analysed.push_back({open.function, "", open.place, open.reason, open.remedy, open.region});
      result_.not_analysed.back().whole = true;
    }
  }
}

LinkResult Linker::run() {
  collect();
  begin();
  while (!queue_.empty()) {
    const Visit v = std::move(queue_.front());
    queue_.pop_front();
    follow(v);
  }
  add_patterns();
  add_left_open(units_, result_.not_analysed);
  std::stable_sort(result_.findings.begin(), result_.findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.place, a.rule, a.callee) < std::tie(b.place, b.rule, b.callee);
  });
  return std::move(result_);
}

}  // namespace

LinkResult link_units(const std::vector<UnitSummary>& units) {
  return Linker(units).run();
}

}  // namespace capgate::lint
