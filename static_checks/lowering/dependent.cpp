// What the pattern of a template leaves open. A function of which clang made nothing is read as it is
// written: a name is enough for what is modelled by name, and an operator is taken for the built-in one.
#include "static_checks/lowering/impl.h"

namespace capgate::lint {

namespace {

// The first function that a name may mean.
const clang::FunctionDecl* first_of(const clang::OverloadExpr* names) {
  for (const clang::NamedDecl* one : names->decls()) {
    const clang::NamedDecl* meant = one->getUnderlyingDecl();
    if (const auto* of_function = llvm::dyn_cast<clang::FunctionTemplateDecl>(meant)) {
      // Of a class that was made of a template, the body is still where it is written.
      while (!of_function->isThisDeclarationADefinition() && of_function->getInstantiatedFromMemberTemplate())
        of_function = of_function->getInstantiatedFromMemberTemplate();
      meant = of_function->getTemplatedDecl();
    }
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(meant)) return function;
  }
  return nullptr;
}

}  // namespace

std::vector<Function*> Lowering::Impl::instances_of(const Function& pattern) {
  std::vector<Function*> instances;
  const auto known = declarations_.find(&pattern);
  const clang::FunctionTemplateDecl* given =
      known == declarations_.end() ? nullptr : known->second->getDescribedFunctionTemplate();
  if (!given) return instances;
  for (const clang::FunctionDecl* made : given->specializations())
    if (const clang::FunctionDecl* definition = made->getDefinition();
        definition && !definition->isDependentContext())
      instances.push_back(function_of(definition));
  return instances;
}

Node* Lowering::Impl::open_member(const clang::CXXDependentScopeMemberExpr* e) {
  if (e->isImplicitAccess()) {
    Node* n = make(Op::other, e);
    n->name = program_.intern(e->getMember().getAsString());
    return n;
  }
  Node* n = make(Op::field, e);
  n->name = program_.intern(e->getMember().getAsString());
  Node* base = expr(e->getBase());
  if (e->isArrow()) {
    Node* pointee = make(Op::deref, e);
    pointee->type = base->type ? base->type->inner : nullptr;
    pointee->kids.push_back(base);
    base = pointee;
  }
  n->kids.push_back(base);
  return n;
}

Node* Lowering::Impl::open_operator(const clang::CallExpr* e) {
  const auto* open = llvm::dyn_cast<clang::CXXOperatorCallExpr>(e);
  if (!open) return nullptr;
  const clang::OverloadedOperatorKind kind = open->getOperator();
  const bool steps = kind == clang::OO_PlusPlus || kind == clang::OO_MinusMinus;
  Node* n = nullptr;
  if (open->getNumArgs() == 1 || steps) {
    if (kind == clang::OO_Arrow || kind == clang::OO_Call || kind == clang::OO_Coawait) return nullptr;
    const clang::UnaryOperatorKind op =
        clang::UnaryOperator::getOverloadedOpcode(kind, open->getNumArgs() > 1);
    Op made = op == clang::UO_Deref ? Op::deref : op == clang::UO_AddrOf ? Op::address : Op::unary;
    n = make(steps ? Op::step : made, e);
    n->sub = static_cast<uint8_t>(op + 1);
    n->kids.push_back(expr(open->getArg(0)));
    return n;
  }
  if (open->getNumArgs() != 2 || kind == clang::OO_Call) return nullptr;
  if (kind == clang::OO_Subscript) {
    n = make(Op::index, e);
  } else {
    const clang::BinaryOperatorKind op = clang::BinaryOperator::getOverloadedOpcode(kind);
    Op made = op == clang::BO_Assign  ? Op::assign
              : op == clang::BO_LAnd  ? Op::logical_and
              : op == clang::BO_LOr   ? Op::logical_or
              : op == clang::BO_Comma ? Op::comma
                                      : Op::binary;
    if (clang::BinaryOperator::isCompoundAssignmentOp(op)) made = Op::compound_assign;
    n = make(made, e);
    n->sub = static_cast<uint8_t>(op + 1);
  }
  n->kids = {expr(open->getArg(0)), expr(open->getArg(1))};
  return n;
}

// Nothing: the call is not open.
Node* Lowering::Impl::open_call(const clang::CallExpr* e) {
  const clang::Expr* callee = e->getCallee()->IgnoreParenImpCasts();
  const auto* names = llvm::dyn_cast<clang::OverloadExpr>(callee);
  if (!names) return nullptr;
  if (Node* operation = open_operator(e)) return operation;
  Node* n = make(Op::call, e);
  if (const clang::FunctionDecl* target = first_of(names)) {
    n->function = function_of(target);
    called(n->function);
    const auto* of_object = llvm::dyn_cast<clang::UnresolvedMemberExpr>(names);
    if (of_object && n->function->is_method) {
      n->has_object = true;
      n->kids.push_back(of_object->isImplicitAccess() ? self(e) : object(of_object->getBase(), e));
      if (of_object->isImplicitAccess()) {
        Node* pointee = make(Op::deref, e);
        pointee->kids.push_back(n->kids[0]);
        pointee->type = n->kids[0]->type ? n->kids[0]->type->inner : nullptr;
        n->kids[0] = pointee;
      }
    }
  } else {
    n->has_object = true;
    Node* open = make(Op::other, callee);
    open->name = program_.intern(names->getName().getAsString());
    n->kids.push_back(open);
  }
  for (const clang::Expr* argument : e->arguments()) n->kids.push_back(expr(argument));
  return n;
}

}  // namespace capgate::lint
