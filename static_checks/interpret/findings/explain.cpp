// What was met on the line of LintOptions::explain, and why. An explanation travels with the summaries as a
// finding does, so that it gets its region and the calls that lead to it.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"
#include "static_checks/ir/dump_tree.h"

namespace capgate::lint {
namespace {

std::string joined(const std::vector<std::string>& words, const char* separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

bool ends_with_name(const std::string& qualified, const std::string& name) {
  if (qualified == name) return true;
  return qualified.size() > name.size() + 2 && qualified.ends_with(name) &&
         qualified.compare(qualified.size() - name.size() - 2, 2, "::") == 0;
}

}  // namespace

void Interpreter::explain(const Node* at, const std::string& text, const Trace* value) {
  const Place place = program_.place(at);
  const std::string key = "explanation" + text + '\0' + frame_->function->usr + frame_->function->name +
                          (value ? Traces::origin(value) : std::string());
  const auto [it, fresh] = core_ids_.try_emplace(key, static_cast<uint32_t>(cores_.size()));
  if (fresh) {
    Core core;
    core.kind = Core::Kind::explanation;
    core.explanation = {place, frame_->function->name, text, steps_of(value), "", {}};
    cores_.push_back(std::move(core));
  }
  add_ref(it->second, s().flow.region, nullptr);
}

// The part of the state that decides whether what happens here is judged.
void Interpreter::explain_reached(const Node* at) {
  const Flow& flow = s().flow;
  std::vector<std::string> words{flow.region ? "the line is reached"
                                             : "the line is reached, and no region is open"};
  if (flow.marked) words.emplace_back("in a marked step, not a capture");
  if (flow.not_capturing) words.emplace_back("where a test says that nothing is being captured: not judged");
  if (flow.eager_break) words.emplace_back("in an eager break: waits are notes, the rest is not judged");
  if (flow.relaxed_capture) words.emplace_back("in a capture of relaxed mode");
  if (flow.relaxed_thread) words.emplace_back("with the thread in relaxed mode");
  if (flow.first_use != FirstUse::none)
    words.emplace_back("behind a guard that its code closes itself: at most a note");
  if (const auto& [rule, reason] = allows_[flow.allowed]; !rule.empty())
    words.push_back("where " + rule + " is allowed: " + reason);
  explain(at, joined(words, ", "));
}

std::string Interpreter::callee_in_words(Function& callee, const Api* model) const {
  if (model) return "modelled as " + std::string(word_of(model->is));
  if (callee.foreign) return "another project's: not analysed";
  if (!callee.user) return "of the system or the toolkit, without a model of its own";
  if (callee.device_only) return "device code: not analysed";
  if (callee.has_body) return "its body is in this unit";
  return "its body is in another unit, or in none";
}

void Interpreter::explain_call(const Node* at, Function& callee, const Api* model) {
  std::string overriders;
  if (!callee.overriders.empty() && at->has_object)
    overriders = ", and " + std::to_string(callee.overriders.size()) + " overriders";
  explain(at, "calls " + callee.name + "(), " + callee_in_words(callee, model) + overriders);
}

void Interpreter::explain_condition(const Node* condition, const Trace* value) {
  if (!value) explain(condition, "the condition depends on no device value");
}

std::vector<ExplainedFunction> Interpreter::explained_functions() {
  std::vector<ExplainedFunction> out;
  const Place& line = options_.explain;
  const auto holds = [&](const Function& f) {
    return f.user && f.has_body && f.place.file == line.file && f.place.line <= line.line &&
           line.line <= f.end_line;
  };
  // Of all functions that the unit knows: instantiations of templates and lambdas are in no list of their
  // own.
  for (size_t i = 0; i < program_.functions.size();
       ++i) {  // NOLINT(modernize-loop-convert): lowering adds some
    Function& f = program_.functions[i];
    if (!holds(f)) continue;
    ExplainedFunction e{f.name, f.usr, f.place, f.end_line, {}};
    if (f.device_only) {
      e.notes.emplace_back("is device code, which is not analysed");
      out.push_back(std::move(e));
      continue;
    }
    if (f.is_pattern)
      e.notes.emplace_back("is a template as it is written: only its instantiations are analysed");
    if (!f.trouble.empty())
      e.notes.push_back("was not parsed as a whole: line " + std::to_string(f.trouble_line) + ": " +
                        f.trouble);
    const Reach& r = reach(f);
    if (!f.is_pattern)
      e.notes.emplace_back(interpreted_.contains(&f) ? "is reached from a region of this unit, or begins one"
                                                     : "is reached from no region of this unit");
    if (r.begins_region) e.notes.emplace_back("begins a region, itself or in what it calls");
    if (!r.calls_api && !r.leaves_unit && !r.asks)
      e.notes.emplace_back("calls nothing that a capture would refuse, as far as this unit shows");
    std::vector<std::string> callers;
    for (const Function* caller : program_.user_functions)
      if (std::find(caller->callees.begin(), caller->callees.end(), &f) != caller->callees.end())
        callers.push_back(caller->name + "()");
    e.notes.push_back(callers.empty() ? "is called by no function of this unit"
                                      : "is called by " + joined(callers, ", "));
    out.push_back(std::move(e));
  }
  return out;
}

std::vector<LoweredTree> Interpreter::trees() {
  std::vector<LoweredTree> out;
  for (size_t i = 0; i < program_.functions.size();
       ++i) {  // NOLINT(modernize-loop-convert): lowering adds some
    Function& f = program_.functions[i];
    if (!f.user || !f.has_body || !ends_with_name(f.name, options_.dump_tree)) continue;
    lowering_.lower(f);
    std::string text;
    std::vector<Function*> callees = f.callees;
    std::stable_sort(callees.begin(), callees.end(),
                     [](const Function* x, const Function* y) { return x->name < y->name; });
    for (Function* callee : callees)
      text += "  calls " + callee->name + "(): " + callee_in_words(*callee, api_of(*callee)) + "\n";
    text += f.body ? dump_tree(program_, f)
                   : "  no tree: " +
                         std::string(f.device_only ? "device code" : "its body could not be lowered") + "\n";
    out.push_back({f.name, f.place, std::move(text)});
  }
  return out;
}

}  // namespace capgate::lint
