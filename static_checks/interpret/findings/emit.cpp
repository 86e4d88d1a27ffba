// From what the interpreter meets to findings, each made once a unit.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

namespace {

bool is_wait(const std::string& rule) {
  return rule == "host-sync" || rule == "host-poll" || rule == "sync-copy";
}

}  // namespace

// False where a region, if one is open, does not apply: behind a test that says that nothing captures.
bool Interpreter::judged() const {
  return !cells_.now->flow.not_capturing && !cells_.now->dead;
}

void Interpreter::add_ref(uint32_t core, uint32_t region, const Chain* chain, uint32_t tests,
                          uint32_t given) {
  constexpr size_t kMaxWays = 6;  // to one finding; the way without a test counts in any case
  std::vector<uint32_t>& ways = frame_->seen[{core, region, given}];
  if (std::find(ways.begin(), ways.end(), 0u) != ways.end()) return;
  if (std::find(ways.begin(), ways.end(), tests) != ways.end()) return;
  if (tests && ways.size() >= kMaxWays) return;
  ways.push_back(tests);
  frame_->refs.push_back({core, region, chain, tests, given});
}

void Interpreter::add_finding(const char* rule, const Judgement& judgement, const Node* at,
                              const std::string& callee, const Trace* taint,
                              const std::map<std::string, std::string>& details,
                              const std::vector<Place>& waits_for) {
  const uint32_t region = s().flow.region;
  const bool by_value = taint != nullptr;
  if (region && s().flow.not_capturing) return;
  if (!region && !judgement.everywhere && !(by_value && options_.whole_file)) return;
  reports::Severity severity = judgement.severity;
  if (!region && !judgement.everywhere) severity = reports::Severity::warning;
  std::map<std::string, std::string> more = details;
  more.insert(judgement.details.begin(), judgement.details.end());
  if (region && s().flow.eager_break) {
    // What a piecewise step leaves uncaptured on purpose: its waits are worth a note, the rest is its own
    // matter.
    if (!is_wait(rule)) return;
    severity = reports::Severity::note;
    more["eager_break"] = "true";
  }
  if (const auto& [allowed, reason] = allows_[s().flow.allowed];
      !allowed.empty() && (allowed == rule || allowed == "*"))
    more["allow_reason"] = reason;
  // What is found in another project's code is shown at the user's call.
  std::string message = judgement.message;
  const Frame* shown = frame_;
  if (shown->from) {
    at = shown->from;
    message += ", inside " + shown->function->name + "()";
  }
  while (shown->from && shown->up) shown = shown->up;
  const Function& function = *shown->function;
  const std::string& file = program_.files[at->file];
  const Position where = program_.position(at);
  std::string key = std::string(rule) + '\0' + callee + '\0' + file + '\0' + std::to_string(where.line) +
                    ':' + std::to_string(where.column) + ':' + std::to_string(static_cast<int>(severity)) +
                    (more.contains("allow_reason") ? "a" : "") + (region ? "r" : "w");
  const auto [it, fresh] = core_ids_.try_emplace(std::move(key), static_cast<uint32_t>(cores_.size()));
  if (fresh) {
    Core core;
    Finding& f = core.finding;
    f.rule = rule;
    f.severity = severity;
    f.message = message;
    f.place = program_.place(at);
    f.function = function.name;
    f.callee = callee;
    f.details = std::move(more);
    if (!callee.empty()) f.details["callee"] = callee;
    f.waits_for = waits_for;
    if (taint) {
      f.details["source"] = Traces::origin(taint);
      if (const Trace* first = Traces::first(taint); !first->source.empty())
        f.origin = program_.place(first->at);
      f.flow = steps_of(taint);
      f.flow.push_back({f.place, message});
    }
    cores_.push_back(std::move(core));
  }
  add_ref(it->second, region, nullptr, s().flow.tests);
}

// From where the value comes to where it is, each step once.
std::vector<FlowStep> Interpreter::steps_of(const Trace* taint) const {
  std::vector<FlowStep> steps;
  for (const Trace* t = taint; t; t = t->before)
    if (!t->message.empty()) steps.push_back({program_.place(t->at), t->message});
  std::reverse(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

void Interpreter::sink(Use use, const Trace* taint, const Node* at) {
  if (!taint || s().dead) return;
  const ValueEvent event{use, Traces::origin(taint)};
  const Judgement judgement = use >= Use::loop_bound ? device_sized(event) : host_branch(event);
  if (is_explained(at)) explain(at, std::string(rule_of(use)) + ": " + judgement.message, taint);
  add_finding(rule_of(use), judgement, at, "", taint);
}

void Interpreter::judge(const CallEvent& event, const Node* at, const std::vector<Place>& waits_for) {
  if (!s().flow.region || !judged()) return;
  bool any = false;
  for (const NamedCallRule& rule : call_rules())
    if (auto judgement = rule.judge(event)) {
      any = true;
      // What a warm-up does and a later step does not: no proof that the step that counts does it.
      const bool allocates = rule.judge == device_alloc || rule.judge == host_alloc;
      if (event.first_use == FirstUse::once || (event.first_use == FirstUse::growth && allocates)) {
        judgement->severity = reports::Severity::note;
        judgement->message += ", unless an earlier step has already done so";
      }
      std::map<std::string, std::string> details;
      if (event.api.is == Is::launch && at->op == Op::launch) details["kernel"] = event.callee;
      if (is_explained(at)) explain(at, std::string(rule.id) + ": " + judgement->message);
      add_finding(rule.id, *judgement, at, event.api_name.empty() ? event.callee : event.api_name, nullptr,
                  details, waits_for);
    }
  if (!any && is_explained(at)) explain(at, "no rule objects to " + event.callee + " here");
}

}  // namespace capgate::lint
