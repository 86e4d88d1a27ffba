// The values of expressions.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

Value Interpreter::eval(const Node* n) {
  Value v;
  if (!n) return v;
  if (++nodes_ > kMaxNodes) exhausted_ = true;
  if (s().dead) return v;
  if (is_explained(n)) explain_reached(n);
  if (n->has_value && n->op != Op::when) {
    v.has_constant = true;
    v.constant = n->value;
    return v;
  }
  switch (n->op) {
    case Op::constant:
    case Op::text:
    case Op::nothing:
      return v;
    case Op::function:
      v.callable = n->function->id;
      return v;
    case Op::lambda:
      for (const Node* kid : n->kids) exec(kid);
      v.callable = n->function->id;
      return v;
    case Op::variable:
    case Op::field:
    case Op::index:
    case Op::deref: {
      const std::vector<PathId> at = places(n);
      const Type* type = n->type;
      if (type && type->shape == Shape::reference) type = type->inner;
      // __device__ variables are read by the device only; the host's copy means nothing.
      v = cells_.load(at, type);
      if (!v.count && !v.has_constant) v.count = count_of_place(n);
      return v;
    }
    case Op::address: {
      const Node* operand = bare(n->kids[0]);
      if (operand->op == Op::function) return eval(operand);
      v.targets = target_sets_.intern(places(n->kids[0]));
      return v;
    }
    case Op::this_pointer: {
      if (!n->variable) return v;
      const Cell c = s().read(paths_, root_of(n->variable));
      v.targets =
          c.targets ? c.targets : target_sets_.one(paths_.extend(root_of(n->variable), Step::deref, 0));
      return v;
    }
    case Op::unary:
      return unary(n);
    case Op::step:
      return step(n);
    case Op::binary:
      return binary(n);
    case Op::assign:
      return assign(n);
    case Op::compound_assign:
      return assign_with_operation(n);
    case Op::logical_and:
    case Op::logical_or: {
      State yes, no;
      const Flow base = s().flow;
      v = branch(n, yes, no);
      const bool yes_dead = yes.dead, no_dead = no.dead;
      join(yes, no, paths_, target_sets_, base);
      s() = std::move(yes);
      if (yes_dead != no_dead) {
        v.has_constant = true;
        v.constant = !yes_dead;
      }
      // A conjunction with "is capturing" in it still says so where it holds; kept simple: only a lone test.
      return v;
    }
    case Op::conditional:
      return choose(n);
    case Op::comma:
      eval(n->kids[0]);
      return eval(n->kids[1]);
    case Op::convert:
      return convert(n);
    case Op::call:
      note_call(n, false);
      v = call(n);
      if (const Type* made = n->function ? n->function->result : nullptr;
          made && made->shape == Shape::record)
        note_temporary(made->record, n);
      return v;
    case Op::launch:
      note_call(n, false);
      return launch(n);
    case Op::construct:
      v = construct(n, temporary(n));
      note_temporary(n->record, n);
      return v;
    case Op::list:
      if (!is_record(n->type)) {
        if (n->kids.size() == 1) return eval(n->kids[0]);
        return v;
      }
      return eval_into(n, temporary(n));
    case Op::make:
      return make(n);
    case Op::destroy:
      for (const Node* kid : n->kids) {
        const Value pointer = eval(kid);
        if (!n->record) continue;
        for (const PathId p : targets(pointer)) destroy(*n->record, p, n, 0, false);
        if (!pointer.targets && !pointer.has_constant && !s().dead)
          destroy(*n->record, paths_.extend(temporary(n), Step::deref, 0), n, 0, false);
      }
      return v;
    case Op::raise:
      for (const Node* kid : n->kids) eval(kid);
      end_path();
      return v;
    case Op::statements: {
      for (const Node* block : n->kids) {
        if (block->op != Op::block) {
          exec(block);
          continue;
        }
        for (size_t k = 0; k + 1 < block->kids.size(); ++k) exec(block->kids[k]);
        if (!block->kids.empty()) {
          const Node* last = block->kids.back();
          if (last->op < Op::block)
            v = eval(last);
          else
            exec(last);
        }
      }
      return v;
    }
    case Op::other: {
      for (const Node* kid : n->kids) {
        if (kid->op >= Op::block) {
          exec(kid);
          continue;
        }
        const Value part = eval(kid);
        if (!v.taint) v.taint = cells_.taint_of(part);
      }
      if (n->type && n->type->status) v.taint = nullptr;
      return v;
    }
    default:
      exec(n);
      return v;
  }
}

}  // namespace capgate::lint
