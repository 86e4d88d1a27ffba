// Negations, choices and conversions.
#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

Value Interpreter::unary(const Node* n) {
  Value v = eval(n->kids[0]);
  v.taint = cells_.taint_of(v);
  v.aggregate = 0;
  v.targets = 0;
  if (n->unary() == UnaryOp::logical_not) {
    if (v.has_constant) v.constant = !v.constant;
    v.tag = opposite(v.tag);
  } else if (n->unary() == UnaryOp::minus && v.has_constant) {
    v.constant = -v.constant;
  } else if (n->unary() != UnaryOp::plus) {
    v.has_constant = false;
  }
  return v;
}

Value Interpreter::choose(const Node* n) {
  Value v;
  State yes, no;
  Flow base = s().flow;
  const Value c = branch(n->kids[0], yes, no);
  if (yes.flow.region != no.flow.region) base.region = 0;  // as after exec_when
  if (const Trace* t = c.taint) sink(Use::ternary, t, n);
  Value l, r;
  if (!yes.dead && !no.dead && is_host_test(n->kids[0], c)) {
    yes.flow.tests = with_test(base.tests, n->kids[0], true);
    no.flow.tests = with_test(base.tests, n->kids[0], false);
  }
  s() = std::move(yes);
  const bool no_yes = s().dead;
  l = eval(n->kids[1]);
  State after = s();
  s() = std::move(no);
  const bool no_no = s().dead;
  r = eval(n->kids[2]);
  State other = s();
  join(after, other, paths_, target_sets_, base);
  s() = std::move(after);
  s().flow.tests = base.tests;
  if (no_yes) return r;
  if (no_no) return l;
  v = cells_.join_values(l, r);
  if ((c.tag == Tag::begun || c.tag == Tag::not_begun) && l.has_constant && r.has_constant &&
      !l.constant != !r.constant)
    v.tag = l.constant ? c.tag : opposite(c.tag);
  if (counts::is_count(decides(n->kids[0], true)) && operand_of(n->kids[1], l) && operand_of(n->kids[2], r))
    v.count = counts::kCounted;
  if (l.aggregate && r.aggregate && l.aggregate != r.aggregate && !v.taint) v.taint = cells_.taint_of(r);
  if (c.taint && !v.taint) v.taint = nullptr;
  return v;
}

Value Interpreter::convert(const Node* n) {
  Value v;
  if (n->kids.empty()) return v;
  const Node* kid = n->kids[0];
  if (n->type && kid->type && n->type->shape == Shape::pointer && kid->type->shape == Shape::array) {
    std::vector<PathId> at = places(kid);
    for (PathId& p : at) p = paths_.extend(p, Step::element, 0);
    v.targets = target_sets_.intern(std::move(at));
    return v;
  }
  v = eval(kid);
  if (n->type && n->type->status) v.taint = nullptr;
  if (n->type && (n->type->shape == Shape::boolean || n->type->shape == Shape::scalar)) {
    v.taint = kid->type && kid->type->status ? nullptr : cells_.taint_of(v);
    v.aggregate = 0;
    if (n->type->shape == Shape::boolean && v.has_constant) v.constant = v.constant != 0;
    if (n->type->shape == Shape::boolean && v.tag == Tag::capture_status) v.tag = Tag::is_capturing;
    if (n->type->shape == Shape::boolean) v.targets = 0;
  }
  return v;
}

}  // namespace capgate::lint
