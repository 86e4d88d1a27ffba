// Literals, lists, objects that are made and destroyed, and lambdas.
#include <llvm/Support/raw_ostream.h>

#include "static_checks/lowering/impl.h"

namespace capgate::lint {

std::optional<int64_t> Lowering::Impl::value_of(const clang::Expr* e) const {
  clang::Expr::EvalResult result;
  if (e->isValueDependent() || e->containsErrors() || e->getType().isNull() ||
      !e->getType()->isIntegralOrEnumerationType() || !e->EvaluateAsInt(result, context_))
    return std::nullopt;
  const llvm::APSInt& value = result.Val.getInt();
  return value.isRepresentableByInt64() ? value.getExtValue() : static_cast<int64_t>(value.getZExtValue());
}

Node* Lowering::Impl::constant(const clang::Expr* e) {
  Node* n = make(Op::constant, e);
  if (llvm::isa<clang::CXXNullPtrLiteralExpr, clang::GNUNullExpr>(e) ||
      (llvm::isa<clang::CXXScalarValueInitExpr>(e) && e->getType()->isPointerType())) {
    n->has_value = true;
  } else if (const std::optional<int64_t> value = value_of(e)) {
    n->has_value = true;
    n->value = *value;
  }
  return n;
}

Node* Lowering::Impl::text(const clang::StringLiteral* e) {
  Node* n = make(Op::text, e);
  std::string word;
  llvm::raw_string_ostream out(word);
  e->outputString(out);
  if (word.size() >= 2 && word.front() == '"' && word.back() == '"') word = word.substr(1, word.size() - 2);
  n->name = program_.intern(word);
  return n;
}

Node* Lowering::Impl::list(const clang::InitListExpr* given) {
  // As it is written: the other form has a value for each field that is not mentioned.
  const clang::InitListExpr* e = given->getSyntacticForm() ? given->getSyntacticForm() : given;
  Node* n = make(Op::list, e);
  n->type = type_of(given->getType());
  for (const clang::Expr* value : e->inits()) {
    const auto* designated = llvm::dyn_cast<clang::DesignatedInitExpr>(value);
    if (!designated) {
      n->kids.push_back(expr(value));
      continue;
    }
    Node* part = make(Op::convert, value);
    const auto* designator = designated->size() == 1 ? designated->getDesignator(0) : nullptr;
    if (designator && designator->isFieldDesignator() && designator->getFieldName())
      part->name = program_.intern(designator->getFieldName()->getName());
    part->kids.push_back(expr(designated->getInit()));
    n->kids.push_back(part);
  }
  if (n->type && n->type->record) {
    n->record = n->type->record;
    complete(*n->record);
  }
  return n;
}

Node* Lowering::Impl::create(const clang::CXXNewExpr* e) {
  Node* n = make(Op::make, e);
  const std::optional<const clang::Expr*> size = e->getArraySize();
  n->kids = {optional_expr(e->getInitializer()), size ? optional_expr(*size) : nullptr};
  if (n->type && n->type->inner && n->type->inner->record) n->record = n->type->inner->record;
  const clang::FunctionDecl* allocates = e->getOperatorNew();
  const bool is_users = allocates && tree_.is_user(allocates);
  if (e->getNumPlacementArgs() == 0 && !is_users) return n;
  n->sub = 1;
  Node* placed = make(Op::comma, e);
  Node* arguments = make(Op::other, e);
  if (is_users) {
    Node* allocation = make(Op::call, e);
    allocation->function = function_of(allocates);
    called(allocation->function);
    arguments->kids.push_back(allocation);
  }
  for (unsigned i = 0; i < e->getNumPlacementArgs(); ++i)
    arguments->kids.push_back(expr(e->getPlacementArg(i)));
  placed->kids = {arguments, n};
  return placed;
}

Node* Lowering::Impl::destroy(const clang::CXXDeleteExpr* e) {
  Node* n = make(Op::destroy, e);
  n->kids.push_back(expr(e->getArgument()));
  const Type* type = n->kids[0]->type;
  if (type && type->inner && type->inner->record) {
    n->record = type->inner->record;
    destroyed(n->record);
  }
  return n;
}

Node* Lowering::Impl::lambda(const clang::LambdaExpr* e) {
  Node* n = make(Op::lambda, e);
  n->function = function_of(e->getCallOperator());
  for (const clang::LambdaCapture& capture : e->captures())
    if (capture.capturesVariable() && e->isInitCapture(&capture))
      n->kids.push_back(declare(capture.getCapturedVar()));
  // What a generic one names and calls is known for each of those that were made of it.
  std::vector<Function*> bodies{n->function};
  if (const clang::FunctionTemplateDecl* generic = e->getCallOperator()->getDescribedFunctionTemplate())
    for (const clang::FunctionDecl* made : generic->specializations())
      if (made->getDefinition()) bodies.push_back(function_of(made));
  for (Function* body : bodies) {
    lower(*body);
    for (Variable* v : body->captures) refer(v);
    for (Variable* v : body->globals) refer(v);
    called(body);
  }
  return n;
}

void Lowering::Impl::destroyed(const Record* record) {
  complete(*const_cast<Record*>(record));
  for (Function* destructor : {record->destructor, record->destructor_elsewhere})
    if (destructor) called(destructor);
}

}  // namespace capgate::lint
