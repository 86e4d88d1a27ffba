// Expressions: their values, and the places they denote.
#include <algorithm>

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
    case Op::unary: {
      v = eval(n->kids[0]);
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
    case Op::step: {
      v = eval(n->kids[0]);
      Value next = v;
      next.has_constant = false;
      next.count =
          stepped_count(n->kids[0], counts::calculated(operand_of(n->kids[0], v), counts::kConstant));
      if (v.targets) {
        std::vector<PathId> moved = targets(v);
        for (PathId& p : moved) p = paths_.indexed(p, kAny);
        next.targets = target_sets_.intern(std::move(moved));
      }
      cells_.store(places(n->kids[0]), next, nullptr, n->type);
      return next;
    }
    case Op::binary:
      return binary(n);
    case Op::assign: {
      const Type* type = n->kids[0]->type;
      if (is_record(type) && type->shape == Shape::record) {
        const std::vector<PathId> at = places(n->kids[0]);
        if (at.size() == 1 && !paths_[at[0]].summary) return eval_into(n->kids[1], at[0]);
      }
      v = eval(n->kids[1]);
      const Counts stored = stored_count(n->kids[1], v);
      const Node* counter = stepped(n);
      v.count = counter ? stepped_count(counter, stored) : stored;
      const std::vector<PathId> at = places(n->kids[0]);
      // `for (i…) h[i] = v` rewrites the whole of h: the loop's own counter is what makes the index unknown.
      const Node* target = bare(n->kids[0]);
      bool sweeps = false;
      if (at.size() == 1 && target->kids.size() == 2 &&
          (target->op == Op::index ||
           (target->op == Op::call && target->function && target->function->spelled == "operator[]"))) {
        const Node* subscript = bare(target->kids[1]);
        sweeps = subscript->op == Op::variable && std::find(frame_->counters.begin(), frame_->counters.end(),
                                                            subscript->variable) != frame_->counters.end();
      }
      if (sweeps && !v.aggregate && paths_[at[0]].parent && !paths_[paths_[at[0]].parent].summary) {
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
    case Op::compound_assign: {
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
    case Op::conditional: {
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
      if (counts::is_count(decides(n->kids[0], true)) && operand_of(n->kids[1], l) &&
          operand_of(n->kids[2], r))
        v.count = counts::kCounted;
      if (l.aggregate && r.aggregate && l.aggregate != r.aggregate && !v.taint) v.taint = cells_.taint_of(r);
      if (c.taint && !v.taint) v.taint = nullptr;
      return v;
    }
    case Op::comma:
      eval(n->kids[0]);
      return eval(n->kids[1]);
    case Op::convert: {
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
    case Op::call:
      v = call(n);
      if (const Type* made = n->function ? n->function->result : nullptr;
          made && made->shape == Shape::record)
        note_temporary(made->record, n);
      return v;
    case Op::launch:
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
    case Op::make: {
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
