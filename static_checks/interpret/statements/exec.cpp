// Statements: break, continue, return and goto carry their states along.
#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

namespace {

// Nothing after it in its block runs where it does.
bool leaves(const Node* n) {
  while (n && n->op == Op::block && !n->kids.empty()) n = n->kids.back();
  return n && (n->op == Op::give_back || n->op == Op::proceed || n->op == Op::leave);
}

}  // namespace

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
    if (kid->op == Op::when && leaves(kid->kids[kid->split + 1]) && !kid->kids[kid->split + 2])
      forget_keys(kid->kids[kid->split], false, {n->kids.begin() + static_cast<long>(i) + 1, n->kids.end()},
                  s());
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
      v.count = stored_count(kid, v);
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
