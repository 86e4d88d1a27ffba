// Calls, launches and constructions.
#include "static_checks/lowering/impl.h"

namespace capgate::lint {

void Lowering::Impl::add_argument(Node* node, const clang::Expr* argument, Function* callee,
                                  size_t position) {
  const auto* usual = llvm::dyn_cast<clang::CXXDefaultArgExpr>(argument);
  if (!usual) {
    node->kids.push_back(expr(argument));
    return;
  }
  const Node* known = callee ? default_of(*callee, position) : nullptr;
  if (!known) known = lower_default(usual->getParam());
  // A copy that stands at the call: findings in a default argument belong there.
  Node* given = program_.node(known ? Op::convert : Op::other);
  const uint32_t id = given->id;
  if (known) *given = *known;
  given->id = id;
  given->file = node->file;
  given->offset = node->offset;
  given->implicit = true;
  node->kids.push_back(given);
}

void Lowering::Impl::add_arguments(Node* node, const clang::CallExpr* e, Function* callee, unsigned first) {
  for (unsigned i = first; i < e->getNumArgs(); ++i) add_argument(node, e->getArg(i), callee, i - first);
}

Node* Lowering::Impl::call(const clang::CallExpr* e) {
  if (const auto* of_kernel = llvm::dyn_cast<clang::CUDAKernelCallExpr>(e)) return launch(of_kernel);
  const clang::Expr* callee = e->getCallee()->IgnoreParens();
  if (const auto* scalar = llvm::dyn_cast<clang::CXXPseudoDestructorExpr>(callee)) {
    Node* n = make(Op::other, e);
    n->kids.push_back(expr(scalar->getBase()));
    return n;
  }
  if (Node* open = open_call(e)) return open;
  const auto* operation = llvm::dyn_cast<clang::BinaryOperator>(callee);
  const bool by_pointer_to_member = operation && operation->isPtrMemOp();
  if (const auto* target = llvm::dyn_cast_or_null<clang::FunctionDecl>(e->getCalleeDecl());
      target && !by_pointer_to_member)
    return call_of(e, target);
  Node* n = make(Op::call, e);
  n->has_object = true;  // what is called
  n->kids.push_back(expr(e->getCallee()));
  add_arguments(n, e, nullptr, 0);
  return n;
}

Node* Lowering::Impl::call_of(const clang::CallExpr* e, const clang::FunctionDecl* target) {
  // A lambda that becomes a pointer to a function: clang gives it a body only when it makes code.
  if (const auto* conversion = llvm::dyn_cast<clang::CXXConversionDecl>(target);
      conversion && conversion->getParent()->isLambda())
    if (const auto* given = llvm::dyn_cast<clang::CXXMemberCallExpr>(e))
      return unwrap(e, given->getImplicitObjectArgument());
  Node* n = make(Op::call, e);
  Function* f = function_of(target);
  n->function = f;
  called(f);
  const auto* of_object = llvm::dyn_cast<clang::CXXMemberCallExpr>(e);
  const clang::Expr* object_of = of_object ? of_object->getImplicitObjectArgument() : nullptr;
  unsigned first = 0;
  if (object_of && !f->is_static) {
    n->has_object = true;
    n->kids.push_back(object(object_of, e));
    const auto* named = llvm::dyn_cast<clang::MemberExpr>(e->getCallee()->IgnoreParens());
    n->sub = named && named->hasQualifier() ? 1 : 0;
  } else if (llvm::isa<clang::CXXOperatorCallExpr>(e) && f->is_method && e->getNumArgs() > 0) {
    n->has_object = true;
    n->kids.push_back(expr(e->getArg(0)));
    first = 1;
  }
  add_arguments(n, e, f, first);
  return n;
}

Node* Lowering::Impl::launch_argument(const clang::Expr* argument) {
  if (llvm::isa<clang::CXXDefaultArgExpr>(argument)) {
    Node* left_out = make(Op::other, argument);
    left_out->implicit = true;
    return left_out;
  }
  Node* given = expr(argument);
  // From braces, or a value that a macro checks on the way: each part counts.
  Node* part = given;
  while (!part->kids.empty() && part->kids[0]) {
    if (part->op == Op::comma)
      part->op = Op::other;
    else if (part->op != Op::construct && part->op != Op::convert)
      break;
    part = part->kids[0];
  }
  return given;
}

Node* Lowering::Impl::launch(const clang::CUDAKernelCallExpr* e) {
  Node* n = make(Op::launch, e);
  if (const auto* kernel = llvm::dyn_cast_or_null<clang::FunctionDecl>(e->getCalleeDecl()))
    n->function = function_of(kernel);
  const clang::CallExpr* configuration = e->getConfig();
  for (unsigned i = 0; i < 4; ++i)
    n->kids.push_back(configuration && i < configuration->getNumArgs()
                          ? launch_argument(configuration->getArg(i))
                          : make(Op::nothing, e));
  add_arguments(n, e, nullptr, 0);
  return n;
}

Node* Lowering::Impl::construct(const clang::Expr* e, const clang::CXXConstructorDecl* constructor) {
  Node* n = make(Op::construct, e);
  n->function = function_of(constructor);
  n->record = n->function->record;
  called(n->function);
  if (n->type && n->type->record) {
    n->record = n->type->record;
    destroyed(n->record);
  }
  if (const auto* with_arguments = llvm::dyn_cast<clang::CXXConstructExpr>(e))
    for (unsigned i = 0; i < with_arguments->getNumArgs(); ++i)
      add_argument(n, with_arguments->getArg(i), n->function, i);
  return n;
}

}  // namespace capgate::lint
