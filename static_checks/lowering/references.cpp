// What names something: a variable, a function, a member, `this`.
#include "static_checks/lowering/impl.h"

namespace capgate::lint {

void Lowering::Impl::refer(Variable* variable) {
  if (scope_) scope_->named.insert(variable);
}

void Lowering::Impl::called(Function* function) {
  if (scope_) scope_->called.insert(function);
}

Node* Lowering::Impl::name(const clang::Expr* e, const clang::ValueDecl* target) {
  if (const auto* enumerator = llvm::dyn_cast<clang::EnumConstantDecl>(target)) {
    Node* n = make(Op::constant, e);
    n->has_value = true;
    n->value = enumerator->getInitVal().getExtValue();
    n->name = program_.intern(enumerator->getNameAsString());
    return n;
  }
  if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(target)) {
    Node* n = make(Op::function, e);
    n->function = function_of(function);
    called(n->function);
    return n;
  }
  if (!llvm::isa<clang::VarDecl, clang::BindingDecl>(target)) return others(e);
  Node* n = make(Op::variable, e);
  n->variable = variable_of(target);
  refer(n->variable);
  const Type* type = n->variable->type;
  if (type && type->is_const && n->variable->scope != Variable::Scope::parameter &&
      (type->shape == Shape::scalar || type->shape == Shape::boolean || type->shape == Shape::enumeration)) {
    const auto [it, fresh] = constants_.try_emplace(n->variable);
    if (fresh) it->second = value_of(e);
    n->has_value = it->second.has_value();
    n->value = it->second.value_or(0);
  }
  return n;
}

Node* Lowering::Impl::self(const clang::Expr* e) {
  Node* n = make(Op::this_pointer, e);
  if (scope_ && scope_->function) n->variable = scope_->function->self;
  if (n->variable) {
    n->type = n->variable->type;
    refer(n->variable);
  }
  return n;
}

// The object that a member is of; `e` may be a pointer to it.
Node* Lowering::Impl::object(const clang::Expr* e, const clang::Expr* at) {
  Node* given = expr(e);
  if (!given->type || given->type->shape != Shape::pointer) return given;
  Node* n = make(Op::deref, at);
  n->type = given->type->inner;
  n->kids.push_back(given);
  return n;
}

Node* Lowering::Impl::member(const clang::MemberExpr* e) {
  if (!llvm::isa<clang::FieldDecl>(e->getMemberDecl())) return name(e, e->getMemberDecl());
  Node* n = make(Op::field, e);
  n->name = program_.intern(e->getMemberDecl()->getNameAsString());
  n->kids.push_back(object(e->getBase(), e));
  return n;
}

}  // namespace capgate::lint
