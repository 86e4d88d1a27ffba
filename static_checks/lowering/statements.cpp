// Statements.
#include "static_checks/lowering/impl.h"

namespace capgate::lint {

Node* Lowering::Impl::block(const clang::CompoundStmt* s) {
  Node* n = make(Op::block, s->getBeginLoc());
  for (const clang::Stmt* kid : s->body()) n->kids.push_back(stmt(kid));
  return n;
}

Node* Lowering::Impl::others(const clang::Stmt* s) {
  Node* n = make(Op::other, s->getBeginLoc());
  for (const clang::Stmt* kid : s->children())
    if (kid) n->kids.push_back(stmt(kid));
  return n;
}

Node* Lowering::Impl::declarations(const clang::DeclStmt* s) {
  if (s->isSingleDecl()) return declare(s->getSingleDecl());
  Node* n = make(Op::block, s->getBeginLoc());
  n->sub = 1;  // no scope of its own
  for (const clang::Decl* d : s->decls()) n->kids.push_back(declare(d));
  return n;
}

Node* Lowering::Impl::declare(const clang::Decl* d) {
  const auto* variable = llvm::dyn_cast<clang::VarDecl>(d);
  if (!variable) return make(Op::nothing, d->getLocation());
  Node* n = make(Op::declare, d->getLocation());
  if (const auto* parts = llvm::dyn_cast<clang::DecompositionDecl>(d)) {  // auto [a, b] = e;
    for (const clang::BindingDecl* part : parts->bindings()) {
      Variable* v = variable_of(part);
      if (scope_) scope_->declared.insert(v);
      n->bindings.push_back(v);
    }
    Node* initial = optional_expr(parts->getInit());
    n->type = type_of(parts->getType());
    if (n->type->record) complete(*n->type->record);
    n->kids.push_back(initial);
    return n;
  }
  n->variable = variable_of(variable);
  n->type = n->variable->type;
  if (scope_)
    (n->variable->scope == Variable::Scope::static_local ? scope_->named : scope_->declared)
        .insert(n->variable);
  Record* record = n->type ? n->type->record : nullptr;
  if (record) {
    complete(*record);
    if (record->held) complete(*record->held);
    for (const Record* one : {static_cast<const Record*>(record), static_cast<const Record*>(record->held)})
      if (one && one->destructor) called(one->destructor);
  }
  n->kids.push_back(optional_expr(variable->getInit()));
  return n;
}

Node* Lowering::Impl::when(const clang::IfStmt* s) {
  // `if consteval` is never taken when the program runs.
  if (s->isConsteval()) {
    const clang::Stmt* taken = s->isNegatedConsteval() ? s->getThen() : s->getElse();
    return taken ? stmt(taken) : make(Op::nothing, s->getBeginLoc());
  }
  Node* n = make(Op::when, s->getBeginLoc());
  if (s->getInit()) n->kids.push_back(stmt(s->getInit()));
  if (s->getConditionVariable()) n->kids.push_back(declare(s->getConditionVariable()));
  n->split = static_cast<uint16_t>(n->kids.size());
  Node* condition = expr(s->getCond());
  // A condition that folds takes one arm, `constexpr` or not.
  if (!condition->has_value && condition->op != Op::variable)
    if (const std::optional<int64_t> value = value_of(s->getCond())) {
      n->has_value = true;
      n->value = *value;
    }
  // Which of its arms there is, only an instantiation knows.
  if (!n->has_value && !condition->has_value) n->sub = s->isConstexpr();
  n->kids.push_back(condition);
  n->kids.push_back(stmt(s->getThen()));
  n->kids.push_back(optional_stmt(s->getElse()));
  return n;
}

Node* Lowering::Impl::loop_for(const clang::ForStmt* s) {
  Node* n = make(Op::loop_for, s->getBeginLoc());
  n->kids.assign(4, nullptr);
  n->kids[0] = optional_stmt(s->getInit());
  n->kids[1] = optional_expr(s->getCond());
  if (s->getConditionVariable()) {  // for (; int x = f();)
    Node* both = make(Op::comma, s->getBeginLoc());
    both->type = n->kids[1] ? n->kids[1]->type : nullptr;
    both->kids = {declare(s->getConditionVariable()), n->kids[1]};
    n->kids[1] = both;
  }
  n->kids[2] = optional_expr(s->getInc());
  n->kids[3] = stmt(s->getBody());
  return n;
}

Node* Lowering::Impl::loop_while(const clang::WhileStmt* s) {
  Node* n = make(Op::loop_while, s->getBeginLoc());
  if (s->getConditionVariable()) n->kids.push_back(declare(s->getConditionVariable()));
  n->split = static_cast<uint16_t>(n->kids.size());
  n->kids.push_back(expr(s->getCond()));
  n->kids.push_back(stmt(s->getBody()));
  return n;
}

// The user's begin(), end() and operators of an iterator, which nobody wrote at the loop.
void Lowering::Impl::add_iteration(Node* loop, const clang::CXXForRangeStmt* s) {
  std::vector<const clang::Expr*> parts{s->getCond(), s->getLoopVariable()->getInit(), s->getInc()};
  for (const clang::DeclStmt* limit : {s->getEndStmt(), s->getBeginStmt()})
    if (const auto* variable = limit ? llvm::dyn_cast<clang::VarDecl>(limit->getSingleDecl()) : nullptr)
      parts.insert(parts.begin(), variable->getInit());
  for (const clang::Expr* part : parts) {
    const auto* call = part ? llvm::dyn_cast<clang::CallExpr>(part->IgnoreImplicit()) : nullptr;
    const clang::FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
    if (callee && tree_.is_user(callee)) loop->kids.push_back(expr(part));
  }
}

Node* Lowering::Impl::loop_range(const clang::CXXForRangeStmt* s) {
  Node* n = make(Op::loop_range, s->getBeginLoc());
  const clang::VarDecl* element = s->getLoopVariable();
  if (const auto* parts = llvm::dyn_cast<clang::DecompositionDecl>(element)) {
    for (const clang::BindingDecl* part : parts->bindings()) {
      n->bindings.push_back(variable_of(part));
      if (scope_) scope_->declared.insert(n->bindings.back());
    }
    n->type = type_of(parts->getType());
  } else {
    n->variable = variable_of(element);
    if (scope_) scope_->declared.insert(n->variable);
  }
  n->kids = {expr(s->getRangeInit()), stmt(s->getBody())};
  add_iteration(n, s);
  if (!s->getInit()) return n;
  Node* both = make(Op::block, s->getBeginLoc());  // for (init; x : range)
  both->kids = {stmt(s->getInit()), n};
  return both;
}

Node* Lowering::Impl::choose(const clang::SwitchStmt* s) {
  Node* n = make(Op::choose, s->getBeginLoc());
  if (s->getInit()) n->kids.push_back(stmt(s->getInit()));
  if (s->getConditionVariable()) n->kids.push_back(declare(s->getConditionVariable()));
  n->split = static_cast<uint16_t>(n->kids.size());
  n->kids.push_back(expr(s->getCond()));
  n->kids.push_back(stmt(s->getBody()));
  return n;
}

Node* Lowering::Impl::label_of(const clang::SwitchCase* s) {
  const auto* one = llvm::dyn_cast<clang::CaseStmt>(s);
  Node* n = make(one ? Op::label_case : Op::label_default, s->getBeginLoc());
  if (one && !one->getRHS())
    if (const std::optional<int64_t> value = value_of(one->getLHS())) {
      n->has_value = true;
      n->value = *value;
    }
  if (s->getSubStmt()) n->kids.push_back(stmt(s->getSubStmt()));
  return n;
}

Node* Lowering::Impl::attempt(const clang::CXXTryStmt* s) {
  Node* n = make(Op::attempt, s->getBeginLoc());
  n->kids.push_back(stmt(s->getTryBlock()));
  for (unsigned i = 0; i < s->getNumHandlers(); ++i) {
    const clang::CXXCatchStmt* given = s->getHandler(i);
    Node* handler = make(Op::handler, given->getBeginLoc());
    if (given->getExceptionDecl()) handler->kids.push_back(declare(given->getExceptionDecl()));
    handler->kids.push_back(stmt(given->getHandlerBlock()));
    n->kids.push_back(handler);
  }
  return n;
}

Node* Lowering::Impl::stmt(const clang::Stmt* s) {
  if (const auto* any = llvm::dyn_cast<clang::Expr>(s)) return expr(any);
  if (const auto* any = llvm::dyn_cast<clang::CompoundStmt>(s)) return block(any);
  if (const auto* any = llvm::dyn_cast<clang::DeclStmt>(s)) return declarations(any);
  if (const auto* any = llvm::dyn_cast<clang::IfStmt>(s)) return when(any);
  if (const auto* any = llvm::dyn_cast<clang::ForStmt>(s)) return loop_for(any);
  if (const auto* any = llvm::dyn_cast<clang::WhileStmt>(s)) return loop_while(any);
  if (const auto* any = llvm::dyn_cast<clang::CXXForRangeStmt>(s)) return loop_range(any);
  if (const auto* any = llvm::dyn_cast<clang::SwitchStmt>(s)) return choose(any);
  if (const auto* any = llvm::dyn_cast<clang::SwitchCase>(s)) return label_of(any);
  if (const auto* any = llvm::dyn_cast<clang::CXXTryStmt>(s)) return attempt(any);
  if (const auto* any = llvm::dyn_cast<clang::AttributedStmt>(s)) return stmt(any->getSubStmt());
  if (const auto* any = llvm::dyn_cast<clang::CapturedStmt>(s)) return stmt(any->getCapturedStmt());
  if (const auto* any = llvm::dyn_cast<clang::DoStmt>(s)) {
    Node* n = make(Op::loop_do, s->getBeginLoc());
    n->kids = {stmt(any->getBody()), expr(any->getCond())};
    return n;
  }
  if (const auto* any = llvm::dyn_cast<clang::ReturnStmt>(s)) {
    Node* n = make(Op::give_back, s->getBeginLoc());
    if (any->getRetValue()) n->kids.push_back(expr(any->getRetValue()));
    return n;
  }
  if (const auto* any = llvm::dyn_cast<clang::GotoStmt>(s)) {
    Node* n = make(Op::jump, s->getBeginLoc());
    n->name = program_.intern(any->getLabel()->getNameAsString());
    if (scope_ && scope_->function && scope_->labels.contains(n->name))
      scope_->function->has_backward_jump = true;
    return n;
  }
  if (const auto* any = llvm::dyn_cast<clang::LabelStmt>(s)) {
    Node* n = make(Op::label, s->getBeginLoc());
    n->name = program_.intern(any->getDecl()->getNameAsString());
    if (scope_) scope_->labels.insert(n->name);
    n->kids.push_back(stmt(any->getSubStmt()));
    return n;
  }
  if (llvm::isa<clang::BreakStmt>(s)) return make(Op::leave, s->getBeginLoc());
  if (llvm::isa<clang::ContinueStmt>(s)) return make(Op::proceed, s->getBeginLoc());
  if (llvm::isa<clang::NullStmt>(s)) return make(Op::nothing, s->getBeginLoc());
  return others(s);
}

}  // namespace capgate::lint
