// Of a function's parameters: those that a recursion changes, and those whose constants decide something in
// it.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

namespace {

// `n` changes a parameter by arithmetic: `depth - 1`, `--n`.
bool is_changed(const Node* n, const Variable* v) {
  n = bare(n);
  if (!n) return false;
  if ((n->op == Op::binary || n->op == Op::step) && mentions(n, v)) return true;
  return n->op != Op::call &&
         std::any_of(n->kids.begin(), n->kids.end(), [&](const Node* kid) { return is_changed(kid, v); });
}

// Whether `f` is called again before it returns, through plain calls.
bool calls_itself(Lowering& lowering, Function& f, Function& from, std::unordered_set<Function*>& seen) {
  lowering.lower(from);
  const std::vector<Function*> callees = from.callees;
  return std::any_of(callees.begin(), callees.end(), [&](Function* callee) {
    if (callee == &f) return true;
    return callee->user && callee->has_body && seen.insert(callee).second &&
           calls_itself(lowering, f, *callee, seen);
  });
}

void find_tested(const Node* n, const std::vector<Variable*>& params, uint64_t& tested) {
  if (!n) return;
  const auto note = [&](const Node* one) {
    one = bare(one);
    for (size_t i = 0; one && i < params.size() && i < 64; ++i)
      if (one->op == Op::variable && one->variable == params[i]) tested |= uint64_t{1} << i;
  };
  if (is_relation(n)) {
    if (bare(n->kids[1])->has_value) note(n->kids[0]);
    if (bare(n->kids[0])->has_value) note(n->kids[1]);
  } else if (n->op == Op::choose || n->op == Op::when) {
    note(n->kids[n->split]);
  } else if (n->op == Op::conditional || n->op == Op::logical_and || n->op == Op::logical_or ||
             (n->op == Op::unary && n->unary() == UnaryOp::logical_not)) {
    for (const Node* kid : n->kids) note(kid);
  }
  for (const Node* kid : n->kids) find_tested(kid, params, tested);
}

}  // namespace

// Of a function's parameters, those that a recursion changes, and those whose constants decide something.
const Questions::Parameters& Questions::parameters_of(Function& f) {
  const auto [it, fresh] = parameters_.try_emplace(&f);
  if (!fresh) return it->second;
  Parameters found;
  const auto is_numeric = [](const Variable* p) {
    const Type* type = p->type && p->type->shape == Shape::reference ? p->type->inner : p->type;
    return is_number(type) || (type && type->shape == Shape::pointer);
  };
  if (std::none_of(f.params.begin(), f.params.end(), is_numeric)) return it->second;
  lowering_.lower(f);
  std::unordered_set<Function*> seen;
  if (calls_itself(lowering_, f, f, seen)) {
    std::vector<const Node*> work{f.body};
    while (!work.empty()) {
      const Node* n = work.back();
      work.pop_back();
      if (!n) continue;
      work.insert(work.end(), n->kids.begin(), n->kids.end());
      if (n->op != Op::call || !n->function || !(n->function == &f || seen.contains(n->function))) continue;
      for (size_t k = n->has_object ? 1 : 0; k < n->kids.size(); ++k)
        for (size_t i = 0; i < f.params.size() && i < 64; ++i)
          if (is_changed(n->kids[k], f.params[i])) found.recursed |= uint64_t{1} << i;
    }
  } else {
    find_tested(f.body, f.params, found.tested);
    std::vector<const Node*> work{f.body};
    while (!work.empty()) {  // what it passes on to a function that tests it
      const Node* n = work.back();
      work.pop_back();
      if (!n) continue;
      work.insert(work.end(), n->kids.begin(), n->kids.end());
      if (n->op != Op::call || !n->function || !n->function->user || !n->function->has_body) continue;
      const size_t first = n->has_object ? 1 : 0;
      for (size_t k = first; k < n->kids.size(); ++k) {
        const Node* given = bare(n->kids[k]);
        if (given->op != Op::variable) continue;
        const auto at = std::find(f.params.begin(), f.params.end(), given->variable);
        const size_t i = static_cast<size_t>(at - f.params.begin());
        if (i < std::min<size_t>(f.params.size(), 64) && k - first < 64 &&
            (parameters_of(*n->function).tested >> (k - first) & 1))
          found.tested |= uint64_t{1} << i;
      }
    }
  }
  return parameters_[&f] = found;
}

// The parameters of a function that begins to run: a number is one of its inputs.
void Interpreter::set_inputs(Function& f, State& state) {
  const uint64_t recursed = parameters_of(f).recursed;
  for (size_t i = 0; i < f.params.size(); ++i) {
    const Variable& p = *f.params[i];
    if (!is_number(p.type) || p.type->status) continue;
    const bool again = i < 64 && (recursed >> i & 1);
    const Counts count = again ? counts::kCounted : counts::input(static_cast<uint32_t>(i));
    if (count) state.at(root_of(&p)).count = count;
  }
}

}  // namespace capgate::lint
