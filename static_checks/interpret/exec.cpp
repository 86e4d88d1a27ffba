// Statements. Loops run until the state settles; break, continue, return and goto carry their states along.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"
#include "static_checks/models/library_names.h"

namespace capgate::lint {

namespace {

constexpr int kMaxRounds = 6;

// Nothing after it in its block runs where it does.
bool leaves(const Node* n) {
  while (n && n->op == Op::block && !n->kids.empty()) n = n->kids.back();
  return n && (n->op == Op::give_back || n->op == Op::proceed || n->op == Op::leave);
}

bool is_relational(const Node* n) {
  n = bare(n);
  if (n->op == Op::logical_and || n->op == Op::logical_or)
    return is_relational(n->kids[0]) || is_relational(n->kids[1]);
  return n->op == Op::binary && n->binary() >= BinaryOp::lt && n->binary() <= BinaryOp::ne;
}

}  // namespace

// Certainly hands memory to CUDA: the destructor, or a plain function that it calls, on every path but that
// of an empty object. A pool that frees only when it is full, or behind an interface, keeps it mapped.
bool Interpreter::frees_surely(Function& f, int depth) {
  lowering_.lower(f);
  return frees_surely(f.body, depth);
}

bool Interpreter::frees_surely(const Node* n, int depth) {
  if (!n || depth > 12) return false;
  switch (n->op) {
    case Op::when: {
      const Node* condition = bare(n->kids[n->split]);
      bool negated = false;
      const Node* asked = once_flag(condition, negated);
      if (!asked && condition->op == Op::variable) asked = condition;
      const bool asks_for_it = asked && asked->type && asked->type->shape == Shape::pointer;
      const Node* yes = n->kids[n->split + 1];
      const Node* no = n->kids[n->split + 2];
      if (frees_surely(condition, depth + 1)) return true;
      return asks_for_it ? frees_surely(yes, depth + 1) || frees_surely(no, depth + 1)
                         : frees_surely(yes, depth + 1) && frees_surely(no, depth + 1);
    }
    case Op::call: {
      if (!n->function) break;
      if (const Api* api = api_of(*n->function)) {
        if (api->is == Is::release && !api->async) return true;
      } else if (n->function->user && n->function->overriders.empty() && n->function->has_body && depth < 6) {
        if (frees_surely(*n->function, depth + 6)) return true;
      }
      break;
    }
    case Op::lambda:
    case Op::loop_for:
    case Op::loop_while:
    case Op::loop_range:
    case Op::choose:
    case Op::conditional:
    case Op::logical_and:
    case Op::logical_or:
      return false;
    default:
      break;
  }
  return std::any_of(n->kids.begin(), n->kids.end(), [&](const Node* kid) {
    return frees_surely(kid, depth + (n->op >= Op::block ? 0 : 1));
  });
}

// Runs destructors of the locals beyond `keep`, in reverse order.
void Interpreter::leave_locals(size_t keep, const Node* at, bool pop) {
  for (size_t i = frame_->locals.size(); i > keep && !s().dead; --i) {
    const Local& local = frame_->locals[i - 1];
    Variable* v = local.variable;
    const Type* each = element_type(v->type);
    if (!each || !each->record) continue;
    const PathId object = root_of(v);
    Record& record = *each->record;
    // What a launch was given of this object's memory goes away with it.
    if (s().flow.region && judged() && record.user && record.destructor) {
      const Reach& r = reach(*record.destructor);
      if (!r.frees_async && (r.frees || r.calls_api || !record.destructor->callees.empty())) {
        const State before = s();
        const Cells& cells = before.cells();
        std::vector<const Node*> reported;
        for (const auto& [path, cell] : cells) {
          if (paths_[path].root != object) continue;
          const Node* used = cell.used;
          for (const PathId t : target_sets_[cell.targets]) {
            // All of what was made here; of what came from elsewhere, as from a pool, that very place.
            const Step step = paths_[paths_[t].root].step;
            const bool made_here = step == Step::heap || step == Step::temporary;
            const PathId whole = paths_.indexed(t, kAny);
            for (const auto& [p, c] : cells)
              if (c.used && (made_here ? paths_[p].root == paths_[t].root : p == t || p == whole))
                used = c.used;
          }
          if (!used || std::find(reported.begin(), reported.end(), used) != reported.end()) continue;
          reported.push_back(used);
          const std::string receiver = used->function ? used->function->spelled : std::string("the launch");
          add_finding("local-scratch",
                      local_scratch({v->name, receiver, false, frees_surely(*record.destructor)}), used,
                      receiver, nullptr, {{"object", v->name}});
        }
      }
    }
    if (local.owns)
      destroy(record, each == v->type ? object : paths_.extend(object, Step::element, kAny), at);
  }
  if (pop) frame_->locals.resize(std::min(frame_->locals.size(), keep));
}

void Interpreter::exec_block(const Node* n) {
  const size_t keep = frame_->locals.size();
  const FirstUse first_use = s().flow.first_use;
  const uint32_t tests = s().flow.tests;
  for (size_t i = 0; i < n->kids.size(); ++i) {
    const Node* kid = n->kids[i];
    if (s().dead && frame_->labels.empty()) {
      // Nothing falls through to here, but a label below may be jumped to.
      if (kid->op != Op::label) continue;
    }
    exec(kid);
    if (kid->op == Op::when && s().flow.region && !s().dead) {
      check_once_return(n, i + 1, kid);
      const bool is_left = leaves(kid->kids[kid->split + 1]) && !kid->kids[kid->split + 2];
      if (is_left && !kid->sub && is_switch(kid->kids[kid->split]) && is_host_test(kid->kids[kid->split], {}))
        s().flow.tests = with_test(s().flow.tests, kid->kids[kid->split], false);
      if (s().flow.first_use == FirstUse::none && leaves(kid->kids[kid->split + 1]))
        s().flow.first_use = closes_guard(kid->kids[kid->split], false,
                                          {n->kids.begin() + static_cast<long>(i) + 1, n->kids.end()});
    }
  }
  s().flow.first_use = first_use;
  s().flow.tests = tests;
  if (n->sub != 1) leave_locals(keep, n->kids.empty() ? n : n->kids.back(), true);
}

void Interpreter::exec_when(const Node* n) {
  const size_t keep = frame_->locals.size();
  for (size_t i = 0; i < n->split; ++i) exec(n->kids[i]);
  const Node* condition = n->kids[n->split];
  Flow base = s().flow;
  State yes, no;
  const size_t temporaries = frame_->temporaries.size();
  const bool closed = base.region && !n->sub && closed_behind(condition);
  const Value v = branch(condition, yes, no);
  if (frame_->temporaries.size() > temporaries) {
    const std::vector<Temporary> made(frame_->temporaries.begin() + static_cast<long>(temporaries),
                                      frame_->temporaries.end());
    for (State* way : {&yes, &no}) {
      frame_->temporaries.resize(temporaries);
      frame_->temporaries.insert(frame_->temporaries.end(), made.begin(), made.end());
      s() = std::move(*way);
      end_temporaries(temporaries);
      *way = std::move(s());
    }
  }
  // Whether a capture was begun is what it asks: on the way on there may be one.
  if (yes.flow.region != no.flow.region) base.region = 0;
  if (is_explained(condition)) explain_condition(condition, v.taint);
  if (const Trace* t = v.taint) sink(Use::condition, t, condition);
  if (n->has_value) (n->value ? no : yes).dead = true;
  const uint32_t yes_region = yes.flow.region, no_region = no.flow.region;
  leave_where_not_begun(condition, yes, no);
  const bool left_yes = yes.flow.region != yes_region, left_no = no.flow.region != no_region;
  if (!yes.dead && !no.dead && !counts::is_count(decides(condition, true)))
    yes.flow.undecided = no.flow.undecided = 1;
  if (!n->sub && !left_yes && !left_no && !yes.dead && !no.dead && is_host_test(condition, v)) {
    yes.flow.tests = with_test(yes.flow.tests, condition, true);
    no.flow.tests = with_test(no.flow.tests, condition, false);
  }
  if (yes.flow.region) check_once(n);
  if (yes.flow.region && base.first_use == FirstUse::none) {
    yes.flow.first_use = closed ? FirstUse::once : closes_guard(condition, true, {n->kids[n->split + 1]});
    if (n->kids[n->split + 2]) no.flow.first_use = closes_guard(condition, false, {n->kids[n->split + 2]});
  }
  const bool open_choice = n->sub && base.region && yes.flow.region;
  if (open_choice) {
    open_constexpr(n);
    yes.flow.not_capturing = no.flow.not_capturing = 1;
  }
  s() = std::move(yes);
  if (!s().dead) exec(n->kids[n->split + 1]);
  State after = std::move(s());
  s() = std::move(no);
  if (!s().dead && n->kids[n->split + 2]) exec(n->kids[n->split + 2]);
  note_begun_if(condition, after, s(), base);
  // In the other arm the capture goes on: there was none to end in this one.
  const Flow& other = left_yes ? s().flow : after.flow;
  const bool goes_on = (left_yes || left_no) && other.region == base.region && !(left_yes ? s() : after).dead;
  const Flow going_on = other;
  join(after, s(), paths_, target_sets_, base);
  s() = std::move(after);
  if (goes_on) {
    s().flow.region = going_on.region;
    s().flow.marked = going_on.marked;
    s().flow.relaxed_capture = going_on.relaxed_capture;
  }
  s().flow.first_use = base.first_use;
  s().flow.tests = base.tests;
  s().flow.undecided = base.undecided;
  if (open_choice && s().flow.region == base.region) s().flow.not_capturing = base.not_capturing;
  leave_locals(keep, n, true);
}

void Interpreter::exec_loop(const Node* n) {
  const size_t keep = frame_->locals.size();
  const bool is_for = n->op == Op::loop_for;
  const Node* condition = nullptr;
  const Node* step = nullptr;
  const Node* body = nullptr;
  const size_t counters = frame_->counters.size();
  const std::vector<PathId> swept_outside = std::move(frame_->swept);
  frame_->swept.clear();
  std::vector<std::pair<PathId, Cell>> swept;  // as a full round of the loop leaves them
  if (is_for) {
    if (n->kids.size() != 4) return;
    if (n->kids[0]) exec(n->kids[0]);
    condition = n->kids[1];
    step = n->kids[2];
    body = n->kids[3];
    note_bounds(n->kids[0]);
    if (step) {
      const Node* counted = bare(step);
      while (counted->op == Op::comma) counted = bare(counted->kids[0]);
      if (counted->op == Op::step || counted->op == Op::compound_assign) {
        const Node* target = bare(counted->kids[0]);
        if (target->op == Op::variable) frame_->counters.push_back(target->variable);
      }
    }
  } else if (n->op == Op::loop_while) {
    condition = n->kids[n->split];
    body = n->kids[n->split + 1];
  } else {
    body = n->kids[0];
    condition = n->kids[1];
  }
  note_bounds(condition);
  const Flow base = s().flow;
  State exits;
  exits.dead = true;
  ++frame_->rounds;
  for (int round = 0; round < kMaxRounds; ++round) {
    const State entry = s();
    if (entry.dead || exhausted_) break;
    State breaks, continues;
    breaks.dead = continues.dead = true;
    frame_->loops.push_back({&breaks, &continues, frame_->locals.size(), base});
    const size_t inner = frame_->locals.size();
    State no;
    no.dead = true;
    const auto test = [&] {
      if (!condition || s().dead) return;
      for (size_t i = 0; !is_for && n->op == Op::loop_while && i < n->split; ++i) exec(n->kids[i]);
      State yes;
      const Value v = branch(condition, yes, no);
      if (is_explained(condition)) explain_condition(condition, v.taint);
      if (const Trace* t = v.taint)
        sink(is_for && is_relational(condition) ? Use::loop_bound : Use::loop_condition, t, condition);
      s() = std::move(yes);
    };
    if (n->op != Op::loop_do) test();
    if (!s().dead) exec(body);
    join(s(), continues, paths_, target_sets_, base);
    swept.clear();
    if (!s().dead)
      for (const PathId p : frame_->swept) swept.emplace_back(p, s().read(paths_, p));
    if (n->op == Op::loop_do) test();
    if (step && !s().dead) {
      eval(step);
      note_stepped(step);
    }
    leave_locals(inner, n, true);
    frame_->loops.pop_back();
    join(exits, no, paths_, target_sets_, base);
    join(exits, breaks, paths_, target_sets_, base);
    State next = entry;
    join(next, s(), paths_, target_sets_, base);
    if (next.same(entry)) break;
    s() = std::move(next);
  }
  --frame_->rounds;
  frame_->counters.resize(counters);
  frame_->swept = swept_outside;
  s() = std::move(exits);
  s().flow.tests = base.tests;
  s().flow.undecided = base.undecided;
  // A loop that fills an array is taken to run over all of it: where it runs not at all, there is nothing.
  if (!s().dead)
    for (const auto& [path, cell] : swept)
      if (!cell.taint && paths_[path].parent) {
        s().erase_below(paths_, paths_[path].parent, false);
        s().at(path) = cell;
      }
  leave_locals(keep, n, true);
}

// Gives a variable, or the names of a structured binding, what lies at `from`.
void Interpreter::bind(const Node* d, PathId from) {
  if (d->variable) {
    const PathId p = root_of(d->variable);
    const Type* type = d->variable->type;
    s().erase_below(paths_, p, true);
    if (type && type->shape == Shape::reference) {
      s().at(p).targets = target_sets_.one(from);
    } else if (type && (type->shape == Shape::record || type->shape == Shape::array)) {
      cells_.copy_tree(from, p, false);
    } else {
      cells_.store_scalar(p, cells_.load({from}, type), true, type);
    }
    return;
  }
  const Type* type = d->type;
  if (type && type->shape == Shape::reference) type = type->inner;
  for (size_t i = 0; i < d->bindings.size(); ++i) {
    PathId member = 0;
    if (type && type->record && type->record->fields.size() == d->bindings.size())
      member = paths_.field(from, type->record->fields[i].name);
    else if (type && type->record && type->record->name == "std::pair")
      member = paths_.field(from, program_.intern(i == 0 ? "first" : "second"));
    else
      member = paths_.extend(from, Step::element, static_cast<uint32_t>(i));
    const PathId p = root_of(d->bindings[i]);
    s().erase_below(paths_, p, true);
    const Type* own = d->bindings[i]->type;
    if (own && own->shape == Shape::reference)
      s().at(p).targets = target_sets_.one(member);
    else if (own && own->shape == Shape::record)
      cells_.copy_tree(member, p, false);
    else
      cells_.store_scalar(p, cells_.load({member}, own), true, own);
  }
}

void Interpreter::exec_range(const Node* n) {
  const size_t keep = frame_->locals.size();
  const Node* range = n->kids[0];
  std::vector<PathId> at = places(range);
  if (at.empty()) at = cells_.place_or_temporary(range, eval(range));
  const Type* type = range->type;
  if (type && type->shape == Shape::reference) type = type->inner;
  const bool container = type && type->shape == Shape::record;
  if (container)
    for (const PathId p : at)
      if (const Cell* c = s().find(p); c && c->taint && !c->deep) sink(Use::loop_bound, c->taint, range);
  const Flow base = s().flow;
  State exits = s();
  ++frame_->rounds;
  if (n->variable) frame_->elements.push_back(n->variable);
  for (int round = 0; round < kMaxRounds && !exhausted_; ++round) {
    const State entry = s();
    if (entry.dead) break;
    State breaks, continues;
    breaks.dead = continues.dead = true;
    frame_->loops.push_back({&breaks, &continues, frame_->locals.size(), base});
    for (size_t i = 2; i < n->kids.size(); ++i) eval(n->kids[i]);  // begin(), end(), the iterator's operators
    for (const PathId p : at) bind(n, paths_.extend(p, Step::element, kAny));
    exec(n->kids[1]);
    join(s(), continues, paths_, target_sets_, base);
    frame_->loops.pop_back();
    join(exits, s(), paths_, target_sets_, base);
    join(exits, breaks, paths_, target_sets_, base);
    State next = entry;
    join(next, s(), paths_, target_sets_, base);
    if (next.same(entry)) break;
    s() = std::move(next);
  }
  if (n->variable) frame_->elements.pop_back();
  --frame_->rounds;
  s() = std::move(exits);
  s().flow.tests = base.tests;
  s().flow.undecided = base.undecided;
  leave_locals(keep, n, true);
}

void Interpreter::exec_choose(const Node* n) {
  const size_t keep = frame_->locals.size();
  for (size_t i = 0; i < n->split; ++i) exec(n->kids[i]);
  const Node* condition = n->kids[n->split];
  const Value v = eval(condition);
  if (is_explained(condition)) explain_condition(condition, cells_.taint_of(v));
  if (const Trace* t = cells_.taint_of(v)) sink(Use::choice, t, condition);
  const Node* body = n->kids[n->split + 1];
  const State entry = s();
  const Flow base = entry.flow;
  State breaks, continues;
  breaks.dead = continues.dead = true;
  State* outer_continue = frame_->loops.empty() ? &continues : frame_->loops.back().continues;
  const size_t outer_locals = frame_->loops.empty() ? keep : frame_->locals.size();
  frame_->loops.push_back({&breaks, outer_continue, outer_locals, base});
  bool has_default = false, taken = false;
  const Counts chosen_by = operand_of(condition, v);
  s().dead = true;
  std::vector<const Node*> statements;
  if (body->op == Op::block)
    for (const Node* kid : body->kids) statements.push_back(kid);
  else
    statements.push_back(body);
  for (const Node* kid : statements) {
    while (kid && (kid->op == Op::label_case || kid->op == Op::label_default)) {
      const bool is_default = kid->op == Op::label_default;
      has_default = has_default || is_default;
      const bool excluded = v.has_constant && !is_default && kid->has_value && kid->value != v.constant;
      const bool matches = v.has_constant && !is_default && kid->has_value && kid->value == v.constant;
      taken = taken || matches;
      if (!excluded && !(is_default && taken)) {
        State begins = entry;
        if (!v.has_constant && !counts::is_count(chosen_by)) begins.flow.undecided = 1;
        if (!is_default && is_host_test(condition, v)) {
          choices_[kid] = condition;
          frame_->answers[kid] = counts::decided_by(chosen_by, counts::kConstant);
          begins.flow.tests = with_test(base.tests, kid, true);
        }
        join(s(), begins, paths_, target_sets_, base);
      }
      kid = kid->kids.empty() ? nullptr : kid->kids[0];
    }
    if (kid && !s().dead) exec(kid);
  }
  frame_->loops.pop_back();
  leave_locals(keep, n, true);
  join(s(), breaks, paths_, target_sets_, base);
  if (!has_default && !taken) join(s(), entry, paths_, target_sets_, base);
  s().flow.tests = base.tests;
  s().flow.undecided = base.undecided;
}

void Interpreter::exec_declare(const Node* n) {
  const Node* initial = n->kids.empty() ? nullptr : n->kids[0];
  if (n->variable && initial) frame_->initials[n->variable] = initial;
  if (!n->variable) {  // structured binding
    if (!initial) return;
    std::vector<PathId> from = places(initial);
    if (from.empty()) from = cells_.place_or_temporary(initial, eval(initial));
    for (const PathId p : from) {
      bind(n, p);
      break;
    }
    return;
  }
  Variable* v = n->variable;
  const PathId p = root_of(v);
  const Type* type = v->type;
  if (v->scope == Variable::Scope::static_local) {
    if (initial) {
      if (s().flow.region && judged())
        if (const Node* work = find_launch(initial)) {
          const std::string what = work->function ? work->function->spelled : "a launch";
          add_finding("one-time-init", one_time_init({v->name, what}), work, what, nullptr,
                      {{"guard", v->name}});
        }
      // The initialiser runs once, ahead of any state that this pass over the function sees.
      const State before = s();
      eval(initial);
      const bool dead = s().dead;
      if (!dead) {
        State first = std::move(s());
        s() = before;
        join(s(), first, paths_, target_sets_, before.flow);
      } else {
        s() = before;
      }
      if (!dead) seed_table(*v, initial);
    }
    return;
  }
  if (!type) return;
  if (type->shape == Shape::reference) {
    if (!initial) return;
    std::vector<PathId> at = places(initial);
    if (at.empty()) at = cells_.place_or_temporary(initial, eval(initial));
    s().erase_below(paths_, p, true);
    s().at(p).targets = target_sets_.intern(std::move(at));
    return;
  }
  if (type->shape == Shape::record || type->shape == Shape::array) {
    s().erase_below(paths_, p, true);
    if (initial) {
      const Value made = eval_into(initial, p);
      if (made.callable && s().find(p) == nullptr) s().at(p).callable = made.callable;
      if (made.callable) s().at(p).callable = made.callable;
    } else if (type->record) {
      construct_default(*type->record, p, n);
    }
    if (const Type* each = element_type(type);
        each && each->record && (is_destroyed(*each->record) || is_device_container(each->record->name)))
      frame_->locals.push_back({v, true});
    return;
  }
  Value value = initial ? eval(initial) : Value{};
  if (!initial) value.targets = 0;
  if (initial) value.count = stored_count(initial, value);
  s().erase_below(paths_, p, true);
  cells_.store({p}, value, n, type);
}

void Interpreter::exec_return(const Node* n) {
  const PathId out = paths_.root(Step::result, 0);
  if (!n->kids.empty()) {
    const Node* kid = n->kids[0];
    const Type* type = frame_->function->result;
    if (type && type->shape == Shape::reference) {
      std::vector<PathId> at = places(kid);
      if (at.empty()) at = cells_.place_or_temporary(kid, eval(kid));
      s().erase_below(paths_, out, true);
      s().at(out).targets = target_sets_.intern(std::move(at));
    } else if (type && type->shape == Shape::record) {
      s().erase_below(paths_, out, true);
      const Value v = eval_into(kid, out);
      if (v.callable) s().at(out).callable = v.callable;
    } else {
      Value v = eval(kid);
      v.taint = cells_.taint_of(v);
      v.aggregate = 0;
      if (!v.count && is_bound(kid)) v.count = counts::kBound;
      if (v.taint && kid->op != Op::constant)
        v.taint = traces_.step(v.taint, n, "returned by " + frame_->function->spelled + "()");
      s().erase_below(paths_, out, true);
      cells_.store_scalar(out, v, true, type);
    }
  }
  leave_locals(0, n, false);
  if (!s().dead) note_return(s().find(out), n->offset);
  join(frame_->out, s(), paths_, target_sets_, frame_->entered);
  s().dead = true;
}

// Paths that jump out of a region to a common end are those on which something failed: what follows is judged
// as the path that got there in order.
void Interpreter::join_at_label(const State& from) {
  Flow base = s().flow;
  if (!s().dead && !from.dead && s().flow.region != from.flow.region)
    base.region = s().flow.region == frame_->entered.region ? from.flow.region : s().flow.region;
  join(s(), from, paths_, target_sets_, base);
}

void Interpreter::exec_try(const Node* n) {
  const State before = s();
  const Flow base = before.flow;
  if (n->kids.empty()) return;
  State thrown;
  thrown.dead = true;
  frame_->handlers.push_back(&thrown);
  exec(n->kids[0]);
  frame_->handlers.pop_back();
  State after = std::move(s());
  for (size_t i = 1; i < n->kids.size(); ++i) {
    s() = before;
    join(s(), after, paths_, target_sets_, base);
    join(s(), thrown, paths_, target_sets_, base);
    for (const Node* kid : n->kids[i]->kids) exec(kid);
    join(after, s(), paths_, target_sets_, base);
  }
  s() = std::move(after);
}

// By an exception, or with the program.
void Interpreter::end_path() {
  if (!frame_->handlers.empty()) join(*frame_->handlers.back(), s(), paths_, target_sets_, frame_->entered);
  s().dead = true;
}

void Interpreter::exec(const Node* n) {
  if (!n) return;
  const size_t temporaries = frame_->temporaries.size();
  exec_one(n);
  if (n->op != Op::block) end_temporaries(temporaries);
}

void Interpreter::exec_one(const Node* n) {
  if (++nodes_ > kMaxNodes) exhausted_ = true;
  if (exhausted_) return;
  if (s().dead && n->op != Op::label && n->op != Op::block) return;
  if (s().flow.region > kCallers) in_region_.insert(frame_->function);
  if (is_explained(n) && !s().dead) explain_reached(n);
  if (const Function& f = *frame_->function; !f.trouble_at.empty() && n->op != Op::block && n->file == f.file)
    pass_trouble(n->offset);
  switch (n->op) {
    case Op::block:
      exec_block(n);
      return;
    case Op::when:
      exec_when(n);
      return;
    case Op::loop_while:
    case Op::loop_do:
    case Op::loop_for:
      exec_loop(n);
      return;
    case Op::loop_range:
      exec_range(n);
      return;
    case Op::choose:
      exec_choose(n);
      return;
    case Op::label_case:
    case Op::label_default:
      for (const Node* kid : n->kids) exec(kid);
      return;
    case Op::give_back:
      exec_return(n);
      return;
    case Op::leave:
      if (!frame_->loops.empty()) {
        leave_locals(frame_->loops.back().locals, n, false);
        join(*frame_->loops.back().breaks, s(), paths_, target_sets_, frame_->loops.back().base);
      }
      s().dead = true;
      return;
    case Op::proceed:
      if (!frame_->loops.empty()) {
        leave_locals(frame_->loops.back().locals, n, false);
        join(*frame_->loops.back().continues, s(), paths_, target_sets_, frame_->loops.back().base);
      }
      s().dead = true;
      return;
    case Op::jump: {
      const auto [it, fresh] = frame_->labels.try_emplace(n->name);
      if (fresh) it->second.dead = true;
      join(it->second, s(), paths_, target_sets_, s().flow);
      s().dead = true;
      return;
    }
    case Op::label: {
      const auto it = frame_->labels.find(n->name);
      if (it != frame_->labels.end()) join_at_label(it->second);
      for (const Node* kid : n->kids) exec(kid);
      return;
    }
    case Op::declare:
      exec_declare(n);
      return;
    case Op::attempt:
      exec_try(n);
      return;
    case Op::handler:
      for (const Node* kid : n->kids) exec(kid);
      return;
    case Op::nothing:
      return;
    case Op::other:
      for (const Node* kid : n->kids) exec(kid);
      return;
    case Op::construct: {  // a temporary that dies at once
      eval(n);
      keep_temporary(temporary(n));
      if (n->record && (n->record->user || is_range(n->record)) && !s().dead)
        destroy(*n->record, temporary(n), n);
      return;
    }
    default:
      eval(n);
      return;
  }
}

}  // namespace capgate::lint
