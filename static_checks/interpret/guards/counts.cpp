// Which host values are counts of the region (model/counts.h): a loop's counter, what is stepped in code
// that the region reaches, a parameter that a recursion counts, and what follows from these.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

namespace {

// `==`, `<` and the like of a class: iterators are compared so.
bool is_relation_of_objects(const Node* n) {
  if (n->op != Op::call || !n->function || n->kids.size() != 2) return false;
  const std::string& name = n->function->spelled;
  return name == "operator==" || name == "operator!=" || name == "operator<" || name == "operator>" ||
         name == "operator<=" || name == "operator>=";
}

}  // namespace

// What `n` steps: `i` of `++i`, `i += 2`, `i = i + 1`, `i = i->next`, `++it` of a class.
const Node* Questions::stepped(const Node* n) {
  n = bare(n);
  if (!n || n->kids.empty()) return nullptr;
  const bool flags = n->op == Op::compound_assign &&
                     (n->binary() == BinaryOp::and_assign || n->binary() == BinaryOp::or_assign ||
                      n->binary() == BinaryOp::xor_assign);
  if (n->op == Op::step || n->op == Op::compound_assign) return flags ? nullptr : bare(n->kids[0]);
  if (n->op == Op::call && n->function &&
      (n->function->spelled == "operator++" || n->function->spelled == "operator--" ||
       n->function->spelled == "operator+=" || n->function->spelled == "operator-="))
    return bare(n->kids[0]);
  if (n->op != Op::assign) return nullptr;
  const Node* target = bare(n->kids[0]);
  if (target->op == Op::variable && mentions(n->kids[1], target->variable)) return target;
  if (target->op != Op::field) return nullptr;
  const Node* value = bare(n->kids[1]);
  const bool same = value->op == Op::binary && bare(value->kids[0])->op == Op::field &&
                    bare(value->kids[0])->name == target->name;
  return same ? target : nullptr;
}

// The last part of a loop's head has run.
void Interpreter::note_stepped(const Node* n) {
  n = bare(n);
  if (n && n->op == Op::comma)
    for (const Node* kid : n->kids) note_stepped(kid);
  else if (const Node* target = stepped(n); target && target->op == Op::variable && !s().dead)
    s().at(root_of(target->variable)).count = counts::kCounted;
}

// ---- what bounds a loop -----------------------------------------------------------------------------------

// What stands for `n` wherever it is written: a variable, a member of a class, or a function that is asked.
std::pair<const void*, uint32_t> Questions::identity_of(const Node* n) {
  n = bare(n);
  if (!n) return {};
  if (n->op == Op::variable) return {n->variable, 0};
  if (n->op == Op::field) {
    const Type* owner = value_type(n->kids[0]);
    if (owner && owner->shape == Shape::pointer) owner = owner->inner;
    return {owner ? owner->record : nullptr, n->name};
  }
  if (n->op != Op::call || !n->function) return {};
  // Of a container's size, whose it is.
  if (!n->function->user && n->has_object) {
    const auto [owner, name] = identity_of(n->kids[0]);
    return {owner, name ^ n->function->id << 8};
  }
  return {n->function, 0};
}

void Interpreter::note_bounds(const Node* n) {
  n = bare(n);
  if (!n) return;
  if (n->op == Op::declare || is_relation(n) || is_relation_of_objects(n) || n->op == Op::logical_and ||
      n->op == Op::logical_or || n->op == Op::block || n->op == Op::comma ||
      (n->op == Op::binary && is_number(value_type(n)))) {
    for (const Node* kid : n->kids) note_bounds(kid);
    return;
  }
  if (const auto bound = identity_of(n); bound.first) bounds_.insert(bound);
}

bool Interpreter::is_bound(const Node* n) {
  n = bare(n);
  if (!n) return false;
  if (n->op == Op::binary)
    return std::all_of(n->kids.begin(), n->kids.end(),
                       [&](const Node* kid) { return bare(kid)->has_value || is_bound(kid); });
  const auto bound = identity_of(n);
  return bound.first && bounds_.contains(bound);
}

// ---- values -----------------------------------------------------------------------------------------------

Counts Interpreter::operand_of(const Node* n, const Value& value) {
  const Counts known = counts::operand(value.count, value.has_constant);
  return !known && is_bound(n) ? counts::kBound : known;
}

// Of what is stored: a constant counts where every run stores it.
Counts Interpreter::stored_count(const Node* n, const Value& value) {
  if (!value.has_constant) return value.count ? value.count : is_bound(n) ? counts::kBound : 0;
  if (s().flow.chosen_by) return s().flow.chosen_by;
  return s().flow.region || frame_->rounds ? counts::kSetHere : 0;
}

// What `++n` or `n = n + k` leaves. Of a number of this call's own outside of any loop, that is what the
// arithmetic gives.
Counts Interpreter::stepped_count(const Node* target, Counts calculated) {
  target = bare(target);
  const bool own = target->op == Op::variable &&
                   (target->variable->scope == Variable::Scope::local ||
                    target->variable->scope == Variable::Scope::parameter) &&
                   !(target->variable->type && target->variable->type->shape == Shape::reference) &&
                   std::find(frame_->function->captures.begin(), frame_->function->captures.end(),
                             target->variable) == frame_->function->captures.end();
  return !own || frame_->rounds || frame_->function->has_backward_jump ? counts::kCounted : calculated;
}

// Of a call, in terms of the function that makes it.
std::vector<Counts> Interpreter::operands_of(const std::vector<Argument>& arguments) {
  std::vector<Counts> operands;
  operands.reserve(arguments.size());
  for (const Argument& a : arguments) operands.push_back(operand_of(a.node, a.value));
  return operands;
}

// In a unit as a whole, a member or a global that code steps which the region reaches.
Counts Interpreter::count_of_place(const Node* n) {
  if (!s().flow.region || !is_number(value_type(n))) return 0;
  if (n->op == Op::variable && n->variable->scope != Variable::Scope::global &&
      n->variable->scope != Variable::Scope::static_local)
    return 0;
  const auto place = identity_of(n);
  return place.first && counters_of(*root_now_).contains(place) ? counts::kCounted : 0;
}

// All that `root` steps, itself or through calls, and that outlives a call.
const Questions::Identities& Questions::counters_of(Function& root) {
  const auto [it, fresh] = counters_.try_emplace(&root);
  if (!fresh) return it->second;
  Identities found;
  std::vector<Function*> queue{&root};
  std::unordered_set<const Function*> seen{&root};
  for (size_t i = 0; i < queue.size(); ++i) {
    Function& f = *queue[i];
    lowering_.lower(f);
    const auto [own, first] = steps_.try_emplace(&f);
    if (first) {
      std::vector<const Node*> work{f.body};
      while (!work.empty()) {
        const Node* n = work.back();
        work.pop_back();
        if (!n) continue;
        const Node* target =
            n->op == Op::step || n->op == Op::assign || n->op == Op::compound_assign ? stepped(n) : nullptr;
        const bool lasts =
            target && (target->op == Op::field ||
                       (target->op == Op::variable && target->variable->scope != Variable::Scope::local &&
                        target->variable->scope != Variable::Scope::parameter));
        if (lasts && is_number(value_type(target))) own->second.insert(identity_of(target));
        work.insert(work.end(), n->kids.begin(), n->kids.end());
      }
    }
    found.insert(own->second.begin(), own->second.end());
    if (const auto known = counters_.find(&f); known != counters_.end() && &f != &root) {
      found.insert(known->second.begin(), known->second.end());
      continue;
    }
    const auto follow = [&](Function* callee) {
      if (callee->user && callee->has_body && !callee->device_only && seen.insert(callee).second)
        queue.push_back(callee);
    };
    const std::vector<Function*> callees = f.callees;
    for (Function* callee : callees) {
      follow(callee);
      for (Function* overrider : callee->overriders) follow(overrider);
    }
  }
  return counters_[&root] = std::move(found);
}

// ---- tests ------------------------------------------------------------------------------------------------

// What decides a condition without a logical operator that was just evaluated to `value`.
void Interpreter::note_answer(const Node* condition, const Value& value) {
  const Node* n = bare(condition);
  Counts decided = 0;
  if (is_relation_of_objects(n)) {
    const auto side = [&](const Node* kid) -> Counts {
      const Node* object = bare(kid);
      if (object->op == Op::variable || object->op == Op::field)
        for (const PathId p : places(object))
          if (const Cell* cell = s().find(p); cell && (cell->count & counts::kCounted))
            return counts::kCounted;
      return is_bound(object) ? counts::kBound : 0;
    };
    decided = counts::decided_by(side(n->kids[0]), side(n->kids[1]));
  } else if (is_relation(n) && !value.has_constant) {
    decided = compared_;
    for (const Node* kid : n->kids) {  // `&layer == &layers.front()` in a loop over them
      const Node* one = bare(kid);
      if (one->op != Op::address) continue;
      const Node* object = bare(one->kids[0]);
      if (object->op == Op::variable && std::find(frame_->elements.begin(), frame_->elements.end(),
                                                  object->variable) != frame_->elements.end())
        decided = counts::kCounted;
    }
  } else {
    decided = operand_of(n, value);
  }
  frame_->answers[n] = decided;
}

// What decides that `condition` is `wanted`: of two that must both hold, both; of two that either may, one.
Counts Interpreter::decides(const Node* condition, bool wanted) {
  const Node* n = bare(condition);
  if (n->op == Op::unary && n->unary() == UnaryOp::logical_not) return decides(n->kids[0], !wanted);
  if (n->op == Op::logical_and || n->op == Op::logical_or) {
    const Counts l = decides(n->kids[0], wanted), r = decides(n->kids[1], wanted);
    if (wanted == (n->op == Op::logical_and)) return counts::decided_by(l, r);
    if (counts::is_count(l) || !r) return l;
    return counts::is_count(r) || !l ? r : l | r;
  }
  const auto known = frame_->answers.find(n);
  return known == frame_->answers.end() ? 0 : known->second;
}

}  // namespace capgate::lint
