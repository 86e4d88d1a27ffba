// Which variables and members something in this unit may set.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

namespace {

struct Sets {
  Program& program;
  std::vector<std::string> ids;

  // The variable or member that an expression denotes, or that it is an element of.
  void denoted(const Node* n) {
    for (int depth = 0; n && depth < 8; ++depth) {
      n = bare(n);
      if (n->op == Op::variable && n->variable->scope != Variable::Scope::local &&
          n->variable->scope != Variable::Scope::parameter) {
        const Place& at = n->variable->place;
        ids.push_back(at.file + ':' + std::to_string(at.line) + ':' + std::to_string(at.column));
      }
      const Type* type = n->kids.empty() ? nullptr : value_type(n->kids[0]);
      if (n->op == Op::field && type && type->record)
        ids.push_back(type->record->name + "::" + program.text(n->name));
      if (n->kids.empty() || (n->op != Op::field && n->op != Op::index)) return;
      n = n->kids[0];
    }
  }
  void object(const Type* type) {  // all of it
    while (type &&
           (type->shape == Shape::pointer || type->shape == Shape::reference || type->shape == Shape::array))
      type = type->inner;
    if (type && type->record && type->record->user) ids.push_back(type->record->name + "::*");
  }
  void visit(const Node* n) {
    if (!n) return;
    switch (n->op) {
      case Op::assign:
      case Op::compound_assign:
      case Op::step:
      case Op::address:
        denoted(n->kids[0]);
        break;
      case Op::list:
        object(n->type);
        break;
      case Op::call:
      case Op::construct: {
        const size_t first = n->has_object ? 1 : 0;
        for (size_t i = first; i < n->kids.size(); ++i) {
          const bool known = n->function && i - first < n->function->params.size();
          const Type* type = known ? n->function->params[i - first]->type : nullptr;
          const bool writes = !type || ((type->shape == Shape::reference || type->shape == Shape::pointer) &&
                                        type->inner && !type->inner->is_const);
          if (!writes) continue;
          if (!type || type->shape == Shape::reference) denoted(n->kids[i]);
          if (!n->function || !n->function->user || !n->function->has_body)
            object(n->kids[i] ? n->kids[i]->type : nullptr);
        }
        break;
      }
      default:
        break;
    }
    for (const Node* kid : n->kids) visit(kid);
  }
};

}  // namespace

std::vector<std::string> Questions::set_here() {
  Sets sets{program_, {}};
  for (Function* f : program_.user_functions) {
    lowering_.lower(*f);
    sets.visit(f->body);
    for (const auto& [name, init] : f->member_inits) {
      sets.visit(init);
      if (name && f->record && !bare(init)->has_value)
        sets.ids.push_back(f->record->name + "::" + program_.text(name));
    }
  }
  std::sort(sets.ids.begin(), sets.ids.end());
  sets.ids.erase(std::unique(sets.ids.begin(), sets.ids.end()), sets.ids.end());
  return std::move(sets.ids);
}

}  // namespace capgate::lint
