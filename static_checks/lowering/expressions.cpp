// Expressions by their kind. Casts and temporaries that change nothing for the analysis vanish here.
#include <clang/AST/ExprConcepts.h>

#include "static_checks/ir/operators.h"
#include "static_checks/lowering/impl.h"

namespace capgate::lint {

namespace {

// Where a reader looks for it: a member at its name, not where the object before it begins.
clang::SourceLocation location_of(const clang::Expr* e) {
  if (const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(e)) return location_of(cast->getSubExpr());
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(e)) return reference->getLocation();
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(e)) return member->getMemberLoc();
  return e->getBeginLoc();
}

// Nodes keep clang's numbers, with one in front.
template <class Ours, class Theirs>
constexpr uint8_t number(Theirs theirs) {
  return static_cast<uint8_t>(static_cast<unsigned>(theirs) + 1);
}
static_assert(number<BinaryOp>(clang::BO_Add) == static_cast<uint8_t>(BinaryOp::add) &&
              number<BinaryOp>(clang::BO_NE) == static_cast<uint8_t>(BinaryOp::ne) &&
              number<BinaryOp>(clang::BO_OrAssign) == static_cast<uint8_t>(BinaryOp::or_assign) &&
              number<BinaryOp>(clang::BO_Comma) == static_cast<uint8_t>(BinaryOp::comma));
static_assert(number<UnaryOp>(clang::UO_PreInc) == static_cast<uint8_t>(UnaryOp::pre_increment) &&
              number<UnaryOp>(clang::UO_Minus) == static_cast<uint8_t>(UnaryOp::minus) &&
              number<UnaryOp>(clang::UO_LNot) == static_cast<uint8_t>(UnaryOp::logical_not) &&
              number<UnaryOp>(clang::UO_Coawait) == static_cast<uint8_t>(UnaryOp::await));

}  // namespace

Node* Lowering::Impl::make(Op op, clang::SourceLocation location) {
  Node* n = program_.node(op);
  const Spot spot = tree_.spot(location);
  n->file = file_id(spot);
  n->offset = spot.offset;
  return n;
}

Node* Lowering::Impl::make(Op op, const clang::Expr* e) {
  Node* n = make(op, location_of(e));
  n->type = type_of(e->getType());
  return n;
}

Node* Lowering::Impl::others(const clang::Expr* e) {
  Node* n = make(Op::other, e);
  for (const clang::Stmt* kid : e->children())
    if (kid) n->kids.push_back(stmt(kid));
  return n;
}

// An implicit conversion or a temporary.
Node* Lowering::Impl::unwrap(const clang::Expr* wrapper, const clang::Expr* wrapped) {
  Node* inner = expr(wrapped);
  const Type* type = type_of(wrapper->getType());
  if (!inner->type || type == inner->type) return inner;
  if (type->shape == inner->type->shape && type->shape != Shape::scalar)
    if (type->shape == Shape::pointer || type->record == inner->type->record) return inner;
  if (type->shape == Shape::other && inner->op != Op::function) return inner;
  Node* n = make(Op::convert, wrapper);
  n->kids.push_back(inner);
  return n;
}

Node* Lowering::Impl::conditional(const clang::Expr* e, const clang::Expr* condition, const clang::Expr* yes,
                                  const clang::Expr* no) {
  Node* n = make(Op::conditional, e);
  n->kids = {expr(condition), expr(yes), expr(no)};
  return n;
}

Node* Lowering::Impl::unary(const clang::UnaryOperator* e) {
  Op op = Op::unary;
  if (e->getOpcode() == clang::UO_Deref) op = Op::deref;
  if (e->getOpcode() == clang::UO_AddrOf) op = Op::address;
  if (e->isIncrementDecrementOp()) op = Op::step;
  Node* n = make(op, e);
  n->sub = number<UnaryOp>(e->getOpcode());
  n->kids.push_back(expr(e->getSubExpr()));
  return n;
}

Node* Lowering::Impl::binary(const clang::BinaryOperator* e) {
  Op op = Op::binary;
  switch (e->getOpcode()) {
    case clang::BO_Assign:
      op = Op::assign;
      break;
    case clang::BO_LAnd:
      op = Op::logical_and;
      break;
    case clang::BO_LOr:
      op = Op::logical_or;
      break;
    case clang::BO_Comma:
      op = Op::comma;
      break;
    default:
      if (e->isCompoundAssignmentOp()) op = Op::compound_assign;
      break;
  }
  Node* left = expr(e->getLHS());
  Node* n = nullptr;
  if (llvm::isa<clang::BinaryOperator>(e->getLHS()->IgnoreImpCasts())) {
    // clang walks the whole left spine for where an expression begins: quadratic in `a + b + c + …`.
    n = program_.node(op);
    n->file = left->file;
    n->offset = left->offset;
    n->type = type_of(e->getType());
  } else {
    n = make(op, e);
  }
  n->sub = number<BinaryOp>(e->getOpcode());
  n->kids = {left, expr(e->getRHS())};
  return n;
}

// Those that only pass on what is inside.
Node* Lowering::Impl::expr(const clang::Expr* e) {
  if (const auto* inside = llvm::dyn_cast<clang::ParenExpr>(e)) return expr(inside->getSubExpr());
  if (const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(e)) return unwrap(e, cast->getSubExpr());
  if (const auto* full = llvm::dyn_cast<clang::FullExpr>(e)) return unwrap(e, full->getSubExpr());
  if (const auto* made = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(e))
    return unwrap(e, made->getSubExpr());
  if (const auto* bound = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(e))
    return unwrap(e, bound->getSubExpr());
  if (const auto* put_in = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(e))
    return unwrap(e, put_in->getReplacement());
  if (const auto* values = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(e))
    return unwrap(e, values->getSubExpr());
  if (const auto* rewritten = llvm::dyn_cast<clang::CXXRewrittenBinaryOperator>(e))
    return unwrap(e, rewritten->getSemanticForm());
  if (const auto* chosen = llvm::dyn_cast<clang::GenericSelectionExpr>(e);
      chosen && !chosen->isResultDependent())
    return unwrap(e, chosen->getResultExpr());
  if (const auto* usual = llvm::dyn_cast<clang::CXXDefaultArgExpr>(e)) return unwrap(e, usual->getExpr());
  if (const auto* usual = llvm::dyn_cast<clang::CXXDefaultInitExpr>(e); usual && usual->getExpr())
    return unwrap(e, usual->getExpr());
  if (const auto* known = llvm::dyn_cast<clang::OpaqueValueExpr>(e); known && known->getSourceExpr())
    return unwrap(e, known->getSourceExpr());
  if (const auto* cast = llvm::dyn_cast<clang::ExplicitCastExpr>(e)) {
    Node* n = make(Op::convert, e);
    n->kids.push_back(expr(cast->getSubExpr()));
    return n;
  }
  return operation(e);
}

Node* Lowering::Impl::operation(const clang::Expr* e) {
  if (const auto* any = llvm::dyn_cast<clang::CallExpr>(e)) return call(any);
  if (const auto* any = llvm::dyn_cast<clang::CXXConstructExpr>(e)) {
    // Left out by the language itself: the object is made in its place.
    if (any->isElidable() && any->getNumArgs() == 1) return unwrap(e, any->getArg(0));
    return construct(e, any->getConstructor());
  }
  if (const auto* any = llvm::dyn_cast<clang::CXXInheritedCtorInitExpr>(e))
    return construct(e, any->getConstructor());
  if (const auto* any = llvm::dyn_cast<clang::DeclRefExpr>(e)) return name(e, any->getDecl());
  if (const auto* any = llvm::dyn_cast<clang::MemberExpr>(e)) return member(any);
  if (const auto* any = llvm::dyn_cast<clang::CXXDependentScopeMemberExpr>(e)) return open_member(any);
  if (const auto* any = llvm::dyn_cast<clang::UnaryOperator>(e)) return unary(any);
  if (const auto* any = llvm::dyn_cast<clang::BinaryOperator>(e)) return binary(any);
  if (const auto* any = llvm::dyn_cast<clang::ConditionalOperator>(e))
    return conditional(e, any->getCond(), any->getTrueExpr(), any->getFalseExpr());
  if (const auto* any = llvm::dyn_cast<clang::BinaryConditionalOperator>(e))
    return conditional(e, any->getCommon(), any->getCommon(), any->getFalseExpr());
  if (const auto* any = llvm::dyn_cast<clang::ArraySubscriptExpr>(e)) {
    Node* n = make(Op::index, e);
    n->kids = {expr(any->getLHS()), expr(any->getRHS())};
    return n;
  }
  if (llvm::isa<clang::CXXThisExpr>(e)) return self(e);
  if (const auto* any = llvm::dyn_cast<clang::LambdaExpr>(e)) return lambda(any);
  if (const auto* any = llvm::dyn_cast<clang::InitListExpr>(e)) return list(any);
  if (const auto* any = llvm::dyn_cast<clang::CXXNewExpr>(e)) return create(any);
  if (const auto* any = llvm::dyn_cast<clang::CXXDeleteExpr>(e)) return destroy(any);
  if (const auto* any = llvm::dyn_cast<clang::StringLiteral>(e)) return text(any);
  if (const auto* any = llvm::dyn_cast<clang::PredefinedExpr>(e); any && any->getFunctionName())
    return unwrap(e, any->getFunctionName());
  if (const auto* any = llvm::dyn_cast<clang::CXXThrowExpr>(e)) {
    Node* n = make(Op::raise, e);
    if (any->getSubExpr()) n->kids.push_back(expr(any->getSubExpr()));
    return n;
  }
  if (const auto* any = llvm::dyn_cast<clang::StmtExpr>(e)) {
    Node* n = make(Op::statements, e);
    n->kids.push_back(stmt(any->getSubStmt()));
    return n;
  }
  if (llvm::isa<clang::IntegerLiteral, clang::CharacterLiteral, clang::CXXBoolLiteralExpr,
                clang::UnaryExprOrTypeTraitExpr, clang::CXXNullPtrLiteralExpr, clang::GNUNullExpr,
                clang::FloatingLiteral, clang::ImaginaryLiteral, clang::CXXScalarValueInitExpr,
                clang::SizeOfPackExpr, clang::TypeTraitExpr, clang::ConceptSpecializationExpr,
                clang::RequiresExpr, clang::CXXNoexceptExpr>(e))
    return constant(e);
  return others(e);
}

}  // namespace capgate::lint
