// Expressions that write.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

// `for (i…) h[i] = v` rewrites the whole of h: the loop's own counter is what makes the index unknown.
bool Interpreter::sweeps(const Node* target, const std::vector<PathId>& at) {
  if (at.size() != 1 || target->kids.size() != 2) return false;
  const bool element = target->op == Op::index || (target->op == Op::call && target->function &&
                                                   target->function->spelled == "operator[]");
  if (!element) return false;
  const Node* subscript = bare(target->kids[1]);
  return subscript->op == Op::variable && std::find(frame_->counters.begin(), frame_->counters.end(),
                                                    subscript->variable) != frame_->counters.end();
}

Value Interpreter::assign(const Node* n) {
  const Type* type = n->kids[0]->type;
  if (is_record(type) && type->shape == Shape::record) {
    const std::vector<PathId> at = places(n->kids[0]);
    if (at.size() == 1 && !paths_[at[0]].summary) return eval_into(n->kids[1], at[0]);
  }
  Value v = eval(n->kids[1]);
  const Counts stored = stored_count(n->kids[1], v);
  const Node* counter = stepped(n);
  v.count = counter ? stepped_count(counter, stored) : stored;
  const std::vector<PathId> at = places(n->kids[0]);
  const Node* target = bare(n->kids[0]);
  if (sweeps(target, at) && !v.aggregate && paths_[at[0]].parent && !paths_[paths_[at[0]].parent].summary) {
    const PathId parent = paths_[at[0]].parent;
    const Memory memory = cells_.memory_of(at[0]);
    const Trace* before = v.taint;
    s().erase_below(paths_, parent, false);
    Cell& c = s().at(paths_.extend(parent, paths_[at[0]].step, kAny));
    c.taint = before ? traces_.step(before, n, "'" + text_of(target) + "' takes the value") : nullptr;
    c.targets = v.targets;
    c.memory = memory;
    frame_->swept.push_back(paths_.extend(parent, paths_[at[0]].step, kAny));
    return v;
  }
  cells_.store(at, v, n, type);
  return v;
}

Value Interpreter::assign_with_operation(const Node* n) {
  Value v;
  const Value l = eval(n->kids[0]);
  const Value r = eval(n->kids[1]);
  v.taint = cells_.taint_of(l) ? cells_.taint_of(l) : cells_.taint_of(r);
  if (l.targets) {
    std::vector<PathId> moved = targets(l);
    for (PathId& p : moved) p = paths_.indexed(p, kAny);
    v.targets = target_sets_.intern(std::move(moved));
    v.taint = l.taint;
    if (const Trace* t = cells_.taint_of(r)) sink(Use::pointer_arithmetic, t, n);
  }
  if (n->binary() == BinaryOp::or_assign && l.has_constant && r.has_constant) {
    v.has_constant = true;
    v.constant = l.constant | r.constant;
  }
  v.count = counts::calculated(operand_of(n->kids[0], l), operand_of(n->kids[1], r));
  if (const Node* counter = stepped(n)) v.count = stepped_count(counter, v.count);
  cells_.store(places(n->kids[0]), v, n, n->kids[0]->type);
  return v;
}

Value Interpreter::step(const Node* n) {
  Value v = eval(n->kids[0]);
  Value next = v;
  next.has_constant = false;
  next.count = stepped_count(n->kids[0], counts::calculated(operand_of(n->kids[0], v), counts::kConstant));
  if (v.targets) {
    std::vector<PathId> moved = targets(v);
    for (PathId& p : moved) p = paths_.indexed(p, kAny);
    next.targets = target_sets_.intern(std::move(moved));
  }
  cells_.store(places(n->kids[0]), next, nullptr, n->type);
  return next;
}

Value Interpreter::make(const Node* n) {
  Value v;
  if (n->kids[1]) {
    const Value size = eval(n->kids[1]);
    if (const Trace* t = cells_.taint_of(size)) sink(Use::allocation, t, n);
  }
  const PathId object = paths_.root(Step::heap, n->id);
  PathId target = object;
  if (n->kids[1]) target = paths_.extend(object, Step::element, 0);
  const Memory memory = n->sub ? Memory::unknown : Memory::host_heap;
  s().erase_below(paths_, object, true);
  s().at(object).memory = memory;
  if (n->kids[0] && !n->kids[1]) {
    if (is_record(n->type ? n->type->inner : nullptr)) {
      eval_into(n->kids[0], object);
      s().at(object).memory = memory;
    } else {
      cells_.store_scalar(object, eval(n->kids[0]), true, n->type ? n->type->inner : nullptr);
    }
  } else if (n->kids[0]) {
    eval(n->kids[0]);
  }
  v.targets = target_sets_.one(target);
  return v;
}

}  // namespace capgate::lint
