// Launches behind guards that run them once, or after a change.
#include <algorithm>

#include "static_checks/interpret/guards/lasting_state.h"
#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

// The flag in `!flag`, `flag == false`, `ptr == nullptr` (negated) or `flag` itself, when it outlives the
// call.
const Node* Questions::once_flag(const Node* condition, bool& negated) {
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

// Of something, or of zero.
const Node* Questions::find_assignment(const Node* n, const Node* flag, bool to_zero) {
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
const Node* Questions::find_count(const Node* n, const Node* counter) {
  if (!n || n->op == Op::lambda) return nullptr;
  if ((n->op == Op::step && n->unary() != UnaryOp::post_decrement && n->unary() != UnaryOp::pre_decrement) ||
      (n->op == Op::compound_assign && n->binary() == BinaryOp::add_assign))
    if (denotes(n->kids[0], counter)) return n;
  for (const Node* kid : n->kids)
    if (const Node* found = find_count(kid, counter)) return found;
  return nullptr;
}

// The first launch or captured copy below `n`, or the call that leads to one.
const Node* Questions::find_launch(const Node* n, int depth) {
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
  if (!flag) return check_change(when->kids[when->split], true, {when->kids[when->split + 1]});
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
  const Node* taken = when->kids[when->split + 1];
  while (taken->op == Op::block && taken->kids.size() == 1) taken = taken->kids[0];
  if (taken->op != Op::give_back) return;
  if (!flag)
    return check_change(when->kids[when->split], false,
                        {block->kids.begin() + static_cast<long>(from), block->kids.end()});
  if (negated) return;
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

// `if (now != last) { upload(); last = now; }`
void Interpreter::check_change(const Node* condition, bool wanted, const std::vector<const Node*>& guarded) {
  const std::vector<const Node*> sides = differing_sides(condition, wanted);
  const bool closes = std::any_of(sides.begin(), sides.end(), [&](const Node* side) {
    const Node* state = part_of_lasting(side);
    return state && std::any_of(guarded.begin(), guarded.end(),
                                [&](const Node* one) { return writes_state(one, state, 0); });
  });
  if (!closes) return;
  for (const Node* one : guarded)
    if (const Node* work = find_launch(one)) {
      const std::string what = work->function ? work->function->spelled : "a launch";
      const std::string guard = condition_text(program_, bare(condition));
      add_finding("one-time-init", one_time_init({guard, what, true}), work, what, nullptr,
                  {{"guard", guard}});
      return;
    }
}

}  // namespace capgate::lint
