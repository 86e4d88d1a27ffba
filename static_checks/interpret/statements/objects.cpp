// Objects made and destroyed.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

namespace {

// `condition ? object : object` where at least one of the two is made on the spot, as it is or to be moved
// into an object of its class.
const Node* choice_of_new(const Node* n) {
  if (n->op == Op::construct && n->kids.size() == 1 && n->record) {
    const Node* from = bare(n->kids[0]);
    if (from->op == Op::conditional && from->type && from->type->record == n->record) n = from;
  }
  if (n->op != Op::conditional || n->kids.size() != 3 || !is_record(n->type)) return nullptr;
  for (size_t arm = 1; arm < 3; ++arm) {
    const Node* made = bare(n->kids[arm]);
    const Type* result = made->op == Op::call && made->function ? made->function->result : nullptr;
    if (made->op == Op::construct || made->op == Op::list || (result && result->shape == Shape::record))
      return n;
  }
  return nullptr;
}

}  // namespace

Value Interpreter::eval_into(const Node* n, PathId destination) {
  const Node* inner = bare(n);
  if (const Node* choice = choice_of_new(inner)) return choose_into(choice, destination);
  if (inner->op == Op::construct && inner->record &&
      (inner->kids.size() != 1 || inner->kids[0]->op != Op::construct ||
       inner->kids[0]->record != inner->record))
    return construct(inner, destination);
  if (inner->op == Op::list && inner->kids.size() == 1 && bare(inner->kids[0])->op == Op::construct)
    return eval_into(inner->kids[0], destination);
  if (inner->op == Op::list) {
    s().erase_below(paths_, destination, true);
    s().at(destination).whole = true;  // known, and clean
    const Type* type = inner->type;
    size_t i = 0;
    for (const Node* kid : inner->kids) {
      PathId member = 0;
      const Type* member_type = nullptr;
      if (type && type->shape == Shape::record && type->record && type->record->user) {
        const uint32_t name = kid->op == Op::convert ? kid->name : 0;
        const auto& fields = type->record->fields;
        if (name) {
          member = paths_.field(destination, name);
          for (size_t k = 0; k < fields.size(); ++k)
            if (fields[k].name == name) {
              member_type = fields[k].type;
              i = k;
            }
        } else if (i < fields.size()) {
          member = paths_.field(destination, fields[i].name);
          member_type = fields[i].type;
        }
      } else {
        member = paths_.extend(destination, Step::element, i <= kMaxIndex ? static_cast<uint32_t>(i) : kAny);
        member_type = kid->type;
      }
      ++i;
      if (!member) {
        eval(kid);
      } else if (is_record(member_type ? member_type : kid->type)) {
        eval_into(kid->op == Op::convert && kid->name ? kid->kids[0] : kid, member);
      } else if (member_type && member_type->shape == Shape::reference) {
        s().at(member).targets = target_sets_.intern(places(kid));
      } else {
        cells_.store({member}, eval(kid), nullptr, member_type ? member_type : kid->type);
      }
    }
    Value v;
    v.aggregate = destination;
    return v;
  }
  const Value v = eval(n);
  keep_temporary(v.aggregate);
  if (v.aggregate != destination) {
    if (v.aggregate && is_record(n->type ? n->type : inner->type)) {
      cells_.copy_tree(v.aggregate, destination, paths_[destination].summary);
    } else {
      s().erase_below(paths_, destination, true);
      cells_.store_scalar(destination, v, true, n->type);
      if (v.taint && is_record(n->type)) s().at(destination).deep = true;
    }
  }
  Value stored;
  stored.aggregate = destination;
  stored.callable = v.callable;
  return stored;
}

void Interpreter::construct_default(Record& record, PathId destination, const Node* at) {
  if (!record.user) {
    if (!record.name.starts_with("std::")) return;
    Cell& empty = s().at(destination);  // holds nothing to call
    empty.whole = true;
    empty.has_constant = record.name == "std::function";
    return;
  }
  lowering_.complete(record);
  if (record.default_constructor) {
    lowering_.lower(*record.default_constructor);
    if (record.default_constructor->body) {
      std::vector<Argument> none;
      const std::vector<PathId> self{destination};
      apply(*record.default_constructor, at, none, &self);
      return;
    }
  }
  for (const Field& f : record.fields) {
    const PathId member = paths_.field(destination, f.name);
    if (f.initial)
      eval_into(f.initial, member);
    else if (f.type && f.type->record && paths_[member].depth < kMaxSteps)
      construct_default(*f.type->record, member, at);
  }
}

Value Interpreter::construct(const Node* n, PathId destination) {
  Value result;
  result.aggregate = destination;
  Function* f = n->function;
  Record* record = n->record;
  if (!record || !record->user) return system_construct(n, destination);
  lowering_.complete(*record);
  lowering_.lower(*f);
  if (f->body) {
    s().erase_below(paths_, destination, true);
    std::vector<Argument> arguments = arguments_of(n, 0, f);
    const std::vector<PathId> self{destination};
    const uint32_t region = s().flow.region;
    apply(*f, n, arguments, &self);
    if (f->name == "capgate::allow::allow" && n->kids.size() == 2) allow(n->kids[0], n->kids[1]);
    own_region(*record, region, n);
    return result;
  }
  if (f->user && !f->is_defaulted && !f->usr.empty()) {  // its body is in another unit
    std::vector<Argument> arguments = arguments_of(n, 0, f);
    if (s().dead) return result;
    s().erase_below(paths_, destination, true);
    forget_outputs(*f, arguments);
    add_call(*f, n);
    const Value held = opaque(n, f, arguments, {});
    if (held.taint) {
      s().at(destination).taint = held.taint;
      s().at(destination).deep = true;
    }
    cross_edge(*f, n);
    return result;
  }
  // Implicit: a copy or move, or memberwise defaults.
  if (n->kids.size() == 1) {
    const Node* from = bare(n->kids[0]);
    const Type* type = from->type;
    if (type && type->shape == Shape::reference) type = type->inner;
    if (type && type->record == record) {
      const Value v = eval(n->kids[0]);
      PathId source = v.aggregate;
      if (!source)
        if (const auto at = places(n->kids[0]); !at.empty()) source = at[0];
      if (source && source != destination)
        cells_.copy_tree(source, destination, false);
      else if (cells_.taint_of(v)) {
        s().at(destination).taint = cells_.taint_of(v);
        s().at(destination).deep = true;
      }
      return result;
    }
  }
  s().erase_below(paths_, destination, true);
  if (n->kids.empty())
    construct_default(*record, destination, n);
  else
    for (const Node* kid : n->kids) eval(kid);
  return result;
}

}  // namespace capgate::lint
