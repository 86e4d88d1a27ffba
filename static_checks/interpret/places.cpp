// The places that expressions denote.
#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

std::vector<PathId> Interpreter::places(const Node* n) {
  if (!n) return {};
  switch (n->op) {
    case Op::variable: {
      const PathId p = root_of(n->variable);
      if (n->variable->type && n->variable->type->shape == Shape::reference) {
        const Cell c = s().read(paths_, p);
        if (c.targets) return target_sets_[c.targets];
        return {paths_.extend(p, Step::deref, 0)};
      }
      return {p};
    }
    case Op::field: {
      std::vector<PathId> base = places(n->kids[0]);
      if (base.empty()) base = cells_.place_or_temporary(n->kids[0], eval(n->kids[0]));
      for (PathId& p : base) {
        const PathId member = paths_.field(p, n->name);
        p = member;
        if (n->type && n->type->shape == Shape::reference)
          if (const Cell c = s().read(paths_, p); c.targets) p = target_sets_[c.targets][0];
      }
      return base;
    }
    case Op::index: {
      const Node* base = n->kids[0];
      const Value subscript = eval(n->kids[1]);
      const uint32_t index = constant_index(subscript);
      const Node* inner = bare(base);
      std::vector<PathId> result;
      if (inner->type && inner->type->shape == Shape::array) {
        for (const PathId p : places(inner)) result.push_back(paths_.extend(p, Step::element, index));
      } else {
        for (const PathId p : targets(eval(base))) result.push_back(paths_.indexed(p, index));
      }
      if (const Trace* t = cells_.taint_of(subscript)) sink(Use::index, t, n);
      return result;
    }
    case Op::deref:
      return targets(eval(n->kids[0]));
    case Op::convert: {
      const Type* from = n->kids.empty() ? nullptr : n->kids[0]->type;
      if (n->type && from && n->type->shape == Shape::pointer && from->shape == Shape::array) return {};
      return n->kids.empty() ? std::vector<PathId>{} : places(n->kids[0]);
    }
    case Op::conditional:
      return places_of_choice(n);
    case Op::comma:
      eval(n->kids[0]);
      return places(n->kids[1]);
    case Op::assign:
    case Op::compound_assign:
    case Op::step:
      eval(n);
      return places(n->kids[0]);
    case Op::call: {
      const Value v = eval(n);
      if (v.aggregate) return {v.aggregate};
      const bool reference =
          n->function && n->function->result && n->function->result->shape == Shape::reference;
      if (reference) return cells_.place_or_temporary(n, v);
      return {};
    }
    case Op::construct:
    case Op::list:
    case Op::lambda:
    case Op::statements: {
      const Value v = eval(n);
      if (v.aggregate) return {v.aggregate};
      return cells_.place_or_temporary(n, v);
    }
    default:
      return {};
  }
}

// Of `condition ? a : b`, whose condition is a use like any other.
std::vector<PathId> Interpreter::places_of_choice(const Node* n) {
  State yes, no;
  Flow base = s().flow;
  const Value condition = branch(n->kids[0], yes, no);
  if (yes.flow.region != no.flow.region) base.region = 0;
  if (condition.taint) sink(Use::ternary, condition.taint, n);
  const auto arm = [&](const Node* kid) {
    if (s().dead) return std::vector<PathId>();
    std::vector<PathId> at = places(kid);
    return at.empty() ? cells_.place_or_temporary(kid, eval(kid)) : at;
  };
  s() = std::move(yes);
  std::vector<PathId> both = arm(n->kids[1]);
  State after = std::move(s());
  s() = std::move(no);
  const std::vector<PathId> other = arm(n->kids[2]);
  both.insert(both.end(), other.begin(), other.end());
  join(after, s(), paths_, target_sets_, base);
  s() = std::move(after);
  return both;
}

}  // namespace capgate::lint
