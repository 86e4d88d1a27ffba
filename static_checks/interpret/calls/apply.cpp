// A call of a function of the user's with a body: by its summary.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

// What comes in tainted starts a new stretch of its trace, so that later callers can splice in theirs.
void Interpreter::restart_traces(Entering& e, const Summary& summary) {
  std::vector<PathId> tainted;
  for (const auto& [path, cell] : e.entry.cells())
    if (cell.taint) tainted.push_back(path);
  for (const PathId path : tainted) {
    Cell& cell = e.entry.at(path);
    Trace* t = traces_.copy(Trace{});
    t->before = cell.taint;
    t->at = e.at;
    t->message = "goes into " + e.f.spelled + "()";
    t->source = "";
    t->summary = summary.id;
    t->entry = path;
    t->length = static_cast<uint16_t>(std::min<int>(cell.taint->length + 1, Traces::kMaxLength));
    cell.taint = t;
  }
}

// Findings on the way in get one more call in front.
void Interpreter::pass_on_findings(const Entering& e, const Summary& summary) {
  for (const Ref& ref : summary.refs) {
    uint32_t region = ref.region;
    if (region == kCallers) region = s().flow.region;
    const Chain* chain = ref.chain;
    if (!chain || chain->length < 24) {
      chains_.push_back({e.at, &e.f, ref.chain, ref.chain ? ref.chain->length + 1 : 1});
      chain = &chains_.back();
    }
    const bool bound =
        cores_[ref.core].kind == Core::Kind::finding || cores_[ref.core].kind == Core::Kind::call;
    uint32_t operands = 0;
    if (ref.given) {
      std::vector<Counts> there = given_[ref.given];
      for (Counts& one : there) one = counts::passed_on(one, e.inputs);
      operands = given_of(std::move(there));
    }
    add_ref(ref.core, region, chain,
            bound ? both_tests(s().flow.tests, resolved_tests(ref.tests, e.inputs)) : 0, operands);
  }
}

// What the callee leaves in the places that it was lent, and what it has made.
void Interpreter::give_back_places(Entering& e, const Summary& summary, bool first_time) {
  std::vector<PathId> given_back = e.canon.roots;
  for (const uint32_t id : e.reached.visible) given_back.push_back(paths_.root(Step::variable, id));
  for (const uint32_t id : e.canon.more_visible) given_back.push_back(paths_.root(Step::variable, id));
  given_back.push_back(temporary(e.at));
  const State& exit_state = summary.exit;
  for (const auto& [path, cell] : exit_state.cells())
    if (const Step step = paths_[paths_[path].root].step; step == Step::result || step == Step::symbol)
      for (const PathId target : target_sets_[cell.targets])
        if (const PathId root = paths_[target].root;
            paths_[root].step == Step::heap && !e.canon.made.contains(root)) {
          e.canon.made[root] = made_here(root, e.at);
          given_back.push_back(e.canon.made[root]);
        }
  std::sort(given_back.begin(), given_back.end());
  s().erase_roots(paths_, given_back);
  Cells returned;
  returned.reserve(exit_state.cells().size());
  for (const auto& [path, cell] : exit_state.cells()) {
    const PathId to = original(e.canon, path, e.at);
    if (!to) continue;
    Cell moved = cell;
    moved.count = counts::given_back(moved.count, e.inputs);
    // A constant that is put there behind a test of this call's.
    if (moved.has_constant && s().flow.chosen_by && (moved.count & counts::kSetHere))
      if (const Cell* before = e.entry.find(path);
          !before || !before->has_constant || before->constant != moved.constant)
        moved.count = s().flow.chosen_by;
    if (moved.targets) {
      std::vector<PathId> back;
      for (const PathId p : target_sets_[moved.targets]) back.push_back(original(e.canon, p, e.at));
      moved.targets = target_sets_.intern(std::move(back));
    }
    if (moved.taint && !first_time) moved.taint = rebound(moved.taint, summary, e.entry, e.at, 0);
    returned.emplace_back(to, moved);
  }
  s().put(std::move(returned));
}

void Interpreter::give_back_flow(const Entering& e, const Summary& summary) {
  Flow flow = summary.exit.flow;
  if (flow.region > kCallers && frame_->up) continued_.insert(&e.f);
  if (flow.region == kCallers || e.annotated) flow.region = s().flow.region;
  if (e.annotated) {
    flow.marked = s().flow.marked;
    flow.pooled = s().flow.pooled;
  }
  flow.tests = s().flow.tests;
  flow.chosen_by = s().flow.chosen_by;
  if (s().flow.region && !flow.region && s().flow.region != frame_->entered.region) frame_->ended = true;
  const bool opened = flow.region > kCallers && flow.region != s().flow.region;
  s().flow = flow;
  if (opened) begin_at_call(e);
}

// A region that a function has opened for its callers is one for each call: who shares a wrapper is told
// apart by the place that calls it.
void Interpreter::begin_at_call(const Entering& e) {
  const Flow flow = s().flow;
  if (!frame_->up || !frame_->function->user || frame_->from || flow.marked == kByRange || e.f.is_constructor)
    return;
  const Region wrapped = regions_[flow.region];
  begin_region(e.at, wrapped.kind.c_str());
  const uint32_t here = s().flow.region;
  s().flow = flow;
  s().flow.region = here;
  regions_[here].function = wrapped.function;
  regions_[here].begun_through = wrapped.begun_through.empty() ? e.f.usr : wrapped.begun_through;
  if (here == flow.region) return;  // of a function that calls itself
  wrapped_.insert(flow.region);
  opens_.try_emplace(here, flow.region);
  if (partly_ended_.contains(flow.region)) partly_ended_.insert(here);
  if (const auto known = begun_if_.find(flow.region); known != begun_if_.end())
    begun_if_[here] = known->second;
}

Value Interpreter::result_of(const Entering& e) {
  Value v;
  const PathId out = temporary(e.at);
  const Type* result = e.f.result;
  if (result && result->shape == Shape::record) {
    v.aggregate = out;
    if (const Cell* c = s().find(out)) v.callable = c->callable;
  } else if (const Cell* c = s().find(out)) {
    v.taint = c->taint;
    v.targets = c->targets;
    v.callable = c->callable;
    v.has_constant = c->has_constant;
    v.constant = c->constant;
    v.tag = c->tag;
    v.count = c->count;
  }
  if (result && result->shape == Shape::pointer && !v.targets && !v.has_constant)
    v.targets = target_sets_.one(paths_.extend(out, Step::deref, 0));
  return v;
}

Value Interpreter::apply(Function& f, const Node* at, std::vector<Argument>& arguments,
                         const std::vector<PathId>* self) {
  if (s().flow.region > kCallers) in_region_.insert(&f);
  if (frame_->function != &f) called_[frame_->function].insert(&f);
  const Reach& reached = reach(f);
  if (reached.calls_api || reached.launches || reached.leaves_unit) frame_->read_backs.clear();
  Entering e{f, at, self, reached};
  if (!f.user) e.from = frame_->from ? frame_->from : at;
  e.canon.visible = &reached.visible;
  e.inputs = operands_of(arguments);
  e.inputs.resize(f.params.size());
  see_callables(e, arguments);
  set_entry_flow(e);
  bind_arguments(e, arguments);
  lend(e);
  Summary* const summary = summary_of(e);
  if (!summary) return opaque(at, &f, arguments, {});
  const bool first_time = !summary->ready;
  restart_traces(e, *summary);
  if (first_time) run_body(e, *summary);
  pass_on_findings(e, *summary);
  ended_ = summary->ended;
  if (summary->exit.dead) {
    s().dead = true;
    return {};
  }
  give_back_places(e, *summary, first_time);
  give_back_flow(e, *summary);
  return result_of(e);
}

}  // namespace capgate::lint
