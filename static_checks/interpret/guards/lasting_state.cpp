#include "static_checks/interpret/guards/lasting_state.h"

namespace capgate::lint {

bool outlives_call(const Node* n) {
  return n->op == Op::field ||
         (n->op == Op::variable && (n->variable->scope == Variable::Scope::static_local ||
                                    n->variable->scope == Variable::Scope::global));
}

const Node* part_of_lasting(const Node* n) {
  for (n = bare(n); n; n = n->kids.empty() ? nullptr : bare(n->kids[0]))
    if (outlives_call(n)) return n;
  return nullptr;
}

std::vector<const Node*> differing_sides(const Node* condition, bool wanted) {
  const Node* n = bare(condition);
  while (n->op == Op::unary && n->unary() == UnaryOp::logical_not) {
    wanted = !wanted;
    n = bare(n->kids[0]);
  }
  const bool relation = n->op == Op::binary && (n->binary() == BinaryOp::eq || n->binary() == BinaryOp::ne);
  if (relation) {
    const bool differ = wanted == (n->binary() == BinaryOp::ne);
    const Node* l = bare(n->kids[0]);
    const Node* r = bare(n->kids[1]);
    if (r->has_value)
      return r->value == 0 && l->op == Op::call ? differing_sides(l, differ) : std::vector<const Node*>{};
    return differ && !l->has_value ? std::vector<const Node*>{l, r} : std::vector<const Node*>{};
  }
  if (n->op != Op::call || !n->function || n->kids.size() < 2) return {};
  const std::string& name = n->function->spelled;
  const bool compares = name == "memcmp" || name == "strcmp" || name == "strncmp";  // 0 where they are equal
  if ((compares || name == "operator!=") ? wanted : (name == "operator==" || name == "equal") && !wanted)
    return {n->kids.begin(), n->kids.end()};
  return {};
}

bool denotes(const Node* n, const Node* flag) {
  n = bare(n);
  return n->op == flag->op &&
         (flag->op == Op::variable ? n->variable == flag->variable : n->name == flag->name);
}

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

bool is_part_of(const Node* n, const Node* state) {
  for (int depth = 0; n && depth < 8; ++depth) {
    n = bare(n);
    if (!n) return false;
    if (denotes(n, state)) return true;
    if (n->kids.empty()) return false;
    if (n->op == Op::field || n->op == Op::index || n->op == Op::deref || n->op == Op::address ||
        (n->op == Op::call && n->has_object))
      n = n->kids[0];
    else
      return false;
  }
  return false;
}

}  // namespace capgate::lint
