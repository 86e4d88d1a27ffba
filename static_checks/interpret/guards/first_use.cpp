// Whether guarded code itself closes its guard for later steps.
#include <algorithm>

#include "static_checks/interpret/guards/lasting_state.h"
#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

// Does `n`, or what it calls, write what `state` denotes?
bool Questions::writes_state(const Node* n, const Node* state, int depth) {
  if (!n || depth > 40) return false;
  switch (n->op) {
    case Op::assign:
    case Op::compound_assign:
    case Op::step:
    case Op::address:
      if (is_part_of(n->kids[0], state)) return true;
      break;
    case Op::call: {
      const Function* f = n->function;
      if (!f) break;
      size_t first = 0;
      if (n->has_object) {
        first = 1;
        if (!f->is_const && is_part_of(n->kids[0], state)) return true;
      }
      for (size_t i = first; i < n->kids.size(); ++i) {
        const size_t position = i - first;
        const Type* type = position < f->params.size() ? f->params[position]->type : nullptr;
        if (type && type->shape == Shape::reference && type->inner && !type->inner->is_const &&
            is_part_of(n->kids[i], state))
          return true;
      }
      if (f->user && f->has_body && !f->device_only && depth < 30) {
        lowering_.lower(*n->function);
        if (writes_state(f->body, state, depth + 10)) return true;
      }
      break;
    }
    default:
      break;
  }
  return std::any_of(n->kids.begin(), n->kids.end(),
                     [&](const Node* kid) { return writes_state(kid, state, depth + 1); });
}

namespace {

// Whether `n`, or what it calls, gives `state` another value at once: a counter that goes on counting closes
// nothing for the next step.
bool assigns(Lowering& lowering, const Node* n, const Node* state, int depth) {
  if (!n || depth > 3) return false;
  if (n->op == Op::assign && denotes(n->kids[0], state)) return true;
  if (n->op == Op::call && n->function && n->function->user && n->function->has_body) {
    lowering.lower(*n->function);
    if (assigns(lowering, n->function->body, state, depth + 1)) return true;
  }
  return std::any_of(n->kids.begin(), n->kids.end(),
                     [&](const Node* kid) { return assigns(lowering, kid, state, depth); });
}

}  // namespace

// Whether `n` is what a function of the user's found in a state that the guarded code writes.
bool Interpreter::asks_state(const Node* n, const std::vector<const Node*>& guarded, int depth) {
  n = bare(n);
  if (!n || depth > 4) return false;
  if (n->op == Op::variable && n->variable->scope == Variable::Scope::local) {
    const auto declared = frame_->initials.find(n->variable);
    return declared != frame_->initials.end() && asks_state(declared->second, guarded, depth + 1);
  }
  if (n->op == Op::construct && n->kids.size() == 1) return asks_state(n->kids[0], guarded, depth + 1);
  if (n->op == Op::call && n->function && !n->function->user && n->has_object)  // optional, shared_ptr
    return asks_state(n->kids[0], guarded, depth + 1);
  if (n->op != Op::call || !n->function || !n->function->user || !n->function->has_body) return false;
  lowering_.lower(*n->function);
  std::vector<const Node*> work{n->function->body}, asked;
  while (!work.empty()) {
    const Node* one = work.back();
    work.pop_back();
    if (!one) continue;
    if (outlives_call(one) && one->type && one->type->shape == Shape::record) asked.push_back(one);
    work.insert(work.end(), one->kids.begin(), one->kids.end());
  }
  return std::any_of(asked.begin(), asked.end(), [&](const Node* state) {
    return std::any_of(guarded.begin(), guarded.end(),
                       [&](const Node* one) { return writes_state(one, state, 0); });
  });
}

namespace {

// What runs whenever `n` runs: not in an arm, a loop or a lambda.
void each_time(const Node* n, std::vector<const Node*>& parts) {
  if (!n) return;
  parts.push_back(n);
  switch (n->op) {
    case Op::when:
    case Op::choose:
    case Op::conditional:
    case Op::logical_and:
    case Op::logical_or:
    case Op::loop_while:
    case Op::loop_for:
    case Op::loop_range:
      for (size_t i = 0; i <= n->split && i < n->kids.size(); ++i) each_time(n->kids[i], parts);
      return;
    case Op::lambda:
      return;
    default:
      for (const Node* kid : n->kids) each_time(kid, parts);
  }
}

}  // namespace

// `if (first) wait(); first = false;`, `if (calls++ == 0) wait();`: what closes the guard stands behind it or
// in it. Of a state that this call has set itself, that says nothing of the next one.
bool Interpreter::closed_behind(const Node* condition) {
  bool negated = false;
  const Node* flag = once_flag(condition, negated);
  if (!flag) return false;
  if (flag->op == Op::field)
    for (const PathId p : places(flag))
      if (const Cell* cell = s().find(p); cell && (cell->has_constant || cell->count)) return false;
  const Node* body = frame_->function->body;
  if (find_assignment(body, flag, negated)) return false;  // opens it again
  std::vector<const Node*> parts;
  each_time(body, parts);
  return std::any_of(parts.begin(), parts.end(), [&](const Node* n) {
    if (n->op == Op::assign && denotes(n->kids[0], flag)) {
      const Node* value = bare(n->kids[1]);
      return value->has_value && (value->value != 0) == negated;
    }
    return negated && (n->op == Op::step || n->op == Op::compound_assign) && find_count(n, flag) == n;
  });
}

// How the code that runs where `condition` is `wanted` closes that way for later steps.
FirstUse Interpreter::closes_guard(const Node* condition, bool wanted,
                                   const std::vector<const Node*>& guarded) {
  const Node* n = bare(condition);
  const auto writes = [&](const Node* state) {
    return std::any_of(guarded.begin(), guarded.end(),
                       [&](const Node* one) { return writes_state(one, state, 0); });
  };
  if (n->op == Op::unary && n->unary() == UnaryOp::logical_not)
    return closes_guard(n->kids[0], !wanted, guarded);
  if (n->op == Op::logical_and || n->op == Op::logical_or) {
    const FirstUse l = closes_guard(n->kids[0], wanted, guarded);
    const FirstUse r = closes_guard(n->kids[1], wanted, guarded);
    if (wanted == (n->op == Op::logical_and)) {  // either holds it shut
      if (l == FirstUse::none || r == FirstUse::none) return std::max(l, r);
      return std::min(l, r);
    }
    return l == FirstUse::none || r == FirstUse::none ? FirstUse::none : std::max(l, r);
  }
  if (const Node* state = lasting_state(n)) {
    if (!wanted && writes(state)) return FirstUse::once;
    const bool closes = wanted && std::any_of(guarded.begin(), guarded.end(), [&](const Node* one) {
                          return outlives_call(state) && find_assignment(one, state, true);
                        });
    return closes ? FirstUse::once : FirstUse::none;
  }
  // `if (const Plan* known = look_up(key)) …`: what the function asks, the guarded code writes.
  if (!wanted && asks_state(n, guarded, 0)) return FirstUse::once;
  // `if (now != last) … last = now;` of vectors, strings and the like.
  if (n->op == Op::call && !differing_sides(n, wanted).empty()) {
    const std::vector<const Node*> sides = differing_sides(n, wanted);
    const bool closes = std::any_of(sides.begin(), sides.end(), [&](const Node* side) {
      const Node* state = part_of_lasting(side);
      return state && writes(state);
    });
    if (closes) return FirstUse::once;
  }
  if (n->op == Op::call && n->function && n->has_object) {
    const Node* object = part_of_lasting(n->kids[0]);
    if (!object || n->function->user) return FirstUse::none;
    const bool absent =
        (n->function->spelled == "empty" && wanted) || (n->function->spelled == "operator==" && wanted) ||
        (n->function->spelled == "operator!=" && !wanted) || (n->function->is_conversion && !wanted) ||
        ((n->function->spelled == "count" || n->function->spelled == "contains" ||
          n->function->spelled == "has_value" || n->function->spelled == "defined") &&
         !wanted);
    return absent && writes(object) ? FirstUse::once : FirstUse::none;
  }
  if (n->op == Op::call && n->function && !n->function->user && n->kids.size() == 2 &&
      (n->function->spelled == "operator==" || n->function->spelled == "operator!=")) {
    const Node* object = part_of_lasting(n->kids[0]);
    if (!object) object = part_of_lasting(n->kids[1]);
    const bool absent = wanted == (n->function->spelled == "operator==");
    return object && absent && writes(object) ? FirstUse::once : FirstUse::none;
  }
  if (n->op != Op::binary || n->binary() < BinaryOp::lt || n->binary() > BinaryOp::ne) return FirstUse::none;
  const Node* l = bare(n->kids[0]);
  const Node* r = bare(n->kids[1]);
  const bool equality = n->binary() == BinaryOp::eq || n->binary() == BinaryOp::ne;
  if (equality && r->has_value && r->value == 0)
    return closes_guard(l, n->binary() == BinaryOp::ne ? wanted : !wanted, guarded);
  // A capacity, or the size that something was made for.
  for (const Node* side : {l, r}) {
    if (!outlives_call(side) || side->has_value || !writes(side)) continue;
    const bool assigned = std::any_of(guarded.begin(), guarded.end(),
                                      [&](const Node* one) { return assigns(lowering_, one, side, 0); });
    return assigned ? FirstUse::once : FirstUse::growth;
  }
  return FirstUse::none;
}

}  // namespace capgate::lint
