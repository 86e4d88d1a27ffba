// Guards that run something once: launches behind them, and whether the guarded code itself closes them.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

// The flag in `!flag`, `flag == false`, `ptr == nullptr` (negated) or `flag` itself, when it outlives the
// call.
const Node* Interpreter::once_flag(const Node* condition, bool& negated) {
  negated = false;
  const Node* n = bare(condition);
  for (;;) {
    if (n->op == Op::unary && n->unary() == UnaryOp::logical_not) {
      negated = !negated;
      n = bare(n->kids[0]);
    } else if (n->op == Op::binary && (n->binary() == BinaryOp::eq || n->binary() == BinaryOp::ne) &&
               bare(n->kids[1])->has_value && bare(n->kids[1])->value == 0) {
      if (n->binary() == BinaryOp::eq) negated = !negated;
      n = bare(n->kids[0]);
    } else if (n->op == Op::step && n->unary() == UnaryOp::post_increment) {  // calls++ == 0
      n = bare(n->kids[0]);
    } else {
      break;
    }
  }
  if (n->op == Op::variable &&
      (n->variable->scope == Variable::Scope::static_local || n->variable->scope == Variable::Scope::global))
    return n;
  if (n->op == Op::field) return n;
  return nullptr;
}

namespace {

bool denotes(const Node* n, const Node* flag) {
  n = bare(n);
  return n->op == flag->op &&
         (flag->op == Op::variable ? n->variable == flag->variable : n->name == flag->name);
}

}  // namespace

// Of something, or of zero.
const Node* Interpreter::find_assignment(const Node* n, const Node* flag, bool to_zero) {
  if (!n) return nullptr;
  if (n->op == Op::assign && denotes(n->kids[0], flag)) {
    const Node* value = bare(n->kids[1]);
    if (to_zero ? value->has_value && value->value == 0 : !value->has_value || value->value != 0) return n;
  }
  if (n->op == Op::lambda) return nullptr;
  for (const Node* kid : n->kids)
    if (const Node* found = find_assignment(kid, flag, to_zero)) return found;
  return nullptr;
}

// Where it is counted up.
const Node* Interpreter::find_count(const Node* n, const Node* counter) {
  if (!n || n->op == Op::lambda) return nullptr;
  if ((n->op == Op::step && n->unary() != UnaryOp::post_decrement && n->unary() != UnaryOp::pre_decrement) ||
      (n->op == Op::compound_assign && n->binary() == BinaryOp::add_assign))
    if (denotes(n->kids[0], counter)) return n;
  for (const Node* kid : n->kids)
    if (const Node* found = find_count(kid, counter)) return found;
  return nullptr;
}

// The first launch or captured copy below `n`, or the call that leads to one.
const Node* Interpreter::find_launch(const Node* n, int depth) {
  if (!n || depth > 60) return nullptr;
  if (n->op == Op::launch) return n;
  if (n->op == Op::call && n->function) {
    if (const Api* api = api_of(*n->function)) {
      if (api->is == Is::launch || api->is == Is::library_work ||
          ((api->is == Is::copy || api->is == Is::set) && api->async))
        return n;
    } else if (n->function->user) {
      if (reach(*n->function).launches) return n;
    }
  }
  if (n->op == Op::lambda && n->function) return find_launch(n->function->body, depth + 1);
  for (const Node* kid : n->kids)
    if (const Node* found = find_launch(kid, depth + 1)) return found;
  return nullptr;
}

void Interpreter::check_once(const Node* when) {
  if (!judged()) return;
  bool negated = false;
  const Node* flag = once_flag(when->kids[when->split], negated);
  if (!flag) return;
  const Node* guarded = when->kids[when->split + 1];
  // `if (!done) …`, `if (first) … first = false;`, `if (calls == 0) … ++calls;`
  if (!find_assignment(guarded, flag, !negated) && !(negated && find_count(frame_->function->body, flag)))
    return;
  const Node* work = find_launch(guarded);
  if (!work) return;
  const std::string what = work->function ? work->function->spelled : "a launch";
  add_finding("one-time-init", one_time_init({text_of(flag), what}), work, what, nullptr,
              {{"guard", text_of(flag)}});
}

// `if (done) return;` … launch … `done = true;`
void Interpreter::check_once_return(const Node* block, size_t from, const Node* when) {
  if (!judged() || when->kids[when->split + 2]) return;
  bool negated = false;
  const Node* flag = once_flag(when->kids[when->split], negated);
  if (!flag || negated) return;
  const Node* taken = when->kids[when->split + 1];
  while (taken->op == Op::block && taken->kids.size() == 1) taken = taken->kids[0];
  if (taken->op != Op::give_back) return;
  const Node* work = nullptr;
  bool assigned = false;
  for (size_t i = from; i < block->kids.size(); ++i) {
    if (!work) work = find_launch(block->kids[i]);
    assigned = assigned || find_assignment(block->kids[i], flag);
  }
  if (!work || !assigned) return;
  const std::string what = work->function ? work->function->spelled : "a launch";
  add_finding("one-time-init", one_time_init({text_of(flag), what}), work, what, nullptr,
              {{"guard", text_of(flag)}});
}

// ---- first use --------------------------------------------------------------------------------------------

namespace {

bool outlives_call(const Node* n) {
  return n->op == Op::field ||
         (n->op == Op::variable && (n->variable->scope == Variable::Scope::static_local ||
                                    n->variable->scope == Variable::Scope::global));
}

// The state that is asked, or that it is an element of; null: it ends with the call.
const Node* lasting_state(const Node* n) {
  for (int depth = 0; n && depth < 8; ++depth) {
    if (outlives_call(n)) return n;
    const bool element = n->op == Op::index || (n->op == Op::call && n->has_object && n->function &&
                                                !n->function->user && n->function->spelled == "operator[]");
    if (!element) return nullptr;
    n = bare(n->kids[0]);
  }
  return nullptr;
}

bool same_state(const Node* a, const Node* b) {
  if (a->op != b->op) return false;
  return a->op == Op::variable ? a->variable == b->variable : a->name == b->name;
}

// `n` denotes the state or a part of it.
bool is_part_of(const Node* n, const Node* state) {
  for (int depth = 0; n && depth < 8; ++depth) {
    n = bare(n);
    if (!n) return false;
    if (same_state(n, state)) return true;
    if (n->kids.empty()) return false;
    if (n->op == Op::field || n->op == Op::index || n->op == Op::deref || n->op == Op::address ||
        (n->op == Op::call && n->has_object))
      n = n->kids[0];
    else
      return false;
  }
  return false;
}

}  // namespace

// Does `n`, or what it calls, write what `state` denotes?
bool Interpreter::writes_state(const Node* n, const Node* state, int depth) {
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
  const auto part_of_lasting = [&](const Node* of) -> const Node* {
    for (of = bare(of); of; of = of->kids.empty() ? nullptr : bare(of->kids[0]))
      if (outlives_call(of)) return of;
    return nullptr;
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
  if (n->op == Op::call && n->function && n->has_object) {
    const Node* object = part_of_lasting(n->kids[0]);
    if (!object || n->function->user) return FirstUse::none;
    const bool absent =
        (n->function->spelled == "empty" && wanted) || (n->function->spelled == "operator==" && wanted) ||
        (n->function->spelled == "operator!=" && !wanted) || (n->function->is_conversion && !wanted) ||
        ((n->function->spelled == "count" || n->function->spelled == "contains" ||
          n->function->spelled == "has_value") &&
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
