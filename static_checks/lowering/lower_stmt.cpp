// Statements. The C API gives children without roles; here each gets its role back.
#include "static_checks/lowering/lower_impl.h"

namespace capgate::lint {

Node* Lowering::Impl::block(CXCursor cursor) {
  Node* n = make(Op::block, cursor);
  for (const CXCursor& kid : children_of(cursor)) n->kids.push_back(stmt(kid));
  return n;
}

// auto [a, b] = e;
Node* Lowering::Impl::bindings(CXCursor cursor) {
  Node* n = make(Op::declare, cursor);
  Node* initial = nullptr;
  for (const CXCursor& kid : children_of(cursor)) {
    if (kid.kind == CXCursor_UnexposedDecl) {
      Variable* v = variable_of(kid);
      if (scope_) scope_->declared.insert(v);
      n->bindings.push_back(v);
    } else if (clang_isExpression(kid.kind)) {
      initial = expr(kid);
    }
  }
  n->type = type_of(clang_getCursorType(cursor));
  if (n->type->record) complete(*n->type->record);
  n->kids.push_back(initial);
  return n;
}

Node* Lowering::Impl::declare(CXCursor cursor) {
  if (cursor.kind == CXCursor_UnexposedDecl) return bindings(cursor);
  if (cursor.kind != CXCursor_VarDecl) return make(Op::nothing, cursor);
  Node* n = make(Op::declare, cursor);
  n->variable = variable_of(cursor);
  n->type = n->variable->type;
  if (scope_) {
    if (n->variable->scope == Variable::Scope::static_local)
      scope_->named.insert(n->variable);
    else
      scope_->declared.insert(n->variable);
  }
  Record* record = n->type ? n->type->record : nullptr;
  if (record) {
    complete(*record);
    if (record->held) complete(*record->held);
    for (const Record* one : {static_cast<const Record*>(record), static_cast<const Record*>(record->held)})
      if (one && one->destructor && scope_) scope_->called.insert(one->destructor);
  }
  n->kids.push_back(optional_expr(clang_Cursor_getVarDeclInitializer(cursor)));
  return n;
}

Node* Lowering::Impl::when(CXCursor cursor) {
  Node* n = make(Op::when, cursor);
  const Cursors kids = children_of(cursor);
  size_t i = 0;
  while (i < kids.size() && (kids[i].kind == CXCursor_DeclStmt || kids[i].kind == CXCursor_VarDecl)) {
    n->kids.push_back(kids[i].kind == CXCursor_VarDecl ? declare(kids[i]) : stmt(kids[i]));
    ++i;
  }
  if (kids.size() - i == 4) n->kids.push_back(stmt(kids[i++]));  // if (i = f(); i > 2)
  n->split = static_cast<uint16_t>(n->kids.size());
  if (kids.size() - i < 2) return others(cursor);
  Node* condition = expr(kids[i]);
  // `if constexpr` is not marked; a condition that folds takes one arm in either case.
  if (!condition->has_value && condition->op != Op::variable)
    if (CXEvalResult result = clang_Cursor_Evaluate(kids[i])) {
      if (clang_EvalResult_getKind(result) == CXEval_Int) {
        n->has_value = true;
        n->value = clang_EvalResult_getAsLongLong(result);
      }
      clang_EvalResult_dispose(result);
    }
  // Which of its arms there is, only an instantiation knows.
  if (!n->has_value && !condition->has_value && scope_ && scope_->function && scope_->function->is_pattern)
    n->sub = is_constexpr_if(cursor);
  n->kids.push_back(condition);
  n->kids.push_back(stmt(kids[i + 1]));
  n->kids.push_back(i + 2 < kids.size() ? stmt(kids[i + 2]) : nullptr);
  return n;
}

Node* Lowering::Impl::loop_for(CXCursor cursor) {
  Node* n = make(Op::loop_for, cursor);
  Cursors kids = children_of(cursor);
  if (kids.empty()) return n;
  n->kids.assign(4, nullptr);
  n->kids[3] = stmt(kids.back());
  kids.pop_back();
  std::erase_if(kids, [](const CXCursor& c) { return c.kind == CXCursor_VarDecl; });  // for (; int x = f();)
  if (kids.size() == 3) {
    n->kids[0] = stmt(kids[0]);
    n->kids[1] = expr(kids[1]);
    n->kids[2] = expr(kids[2]);
    return n;
  }
  // Which part is missing can only be told from the two semicolons.
  CXTranslationUnit tu = clang_Cursor_getTranslationUnit(cursor);
  CXToken* tokens = nullptr;
  unsigned count = 0, semicolons[2] = {~0u, ~0u}, seen = 0;
  clang_tokenize(tu, clang_getCursorExtent(cursor), &tokens, &count);
  int depth = 0;
  for (unsigned i = 0; i < count && seen < 2; ++i) {
    const std::string word = take(clang_getTokenSpelling(tu, tokens[i]));
    if (word == "(" || word == "{" || word == "[") ++depth;
    if (word == ")" || word == "}" || word == "]") --depth;
    if (word == ";" && depth == 1)
      clang_getSpellingLocation(clang_getTokenLocation(tu, tokens[i]), nullptr, nullptr, nullptr,
                                &semicolons[seen++]);
  }
  if (tokens) clang_disposeTokens(tu, tokens, count);
  for (const CXCursor& kid : kids) {
    unsigned at = 0;
    clang_getSpellingLocation(clang_getRangeStart(clang_getCursorExtent(kid)), nullptr, nullptr, nullptr,
                              &at);
    const size_t role = (at < semicolons[0] ? 0U : 1U) + (at < semicolons[1] ? 0U : 1U);
    n->kids[role] = role == 0 ? stmt(kid) : expr(kid);
  }
  return n;
}

Node* Lowering::Impl::loop_while(CXCursor cursor) {
  Node* n = make(Op::loop_while, cursor);
  const Cursors kids = children_of(cursor);
  size_t i = 0;
  if (!kids.empty() && kids[0].kind == CXCursor_VarDecl) n->kids.push_back(declare(kids[i++]));
  n->split = static_cast<uint16_t>(n->kids.size());
  if (kids.size() - i < 2) return others(cursor);
  n->kids.push_back(expr(kids[i]));
  n->kids.push_back(stmt(kids[i + 1]));
  return n;
}

Node* Lowering::Impl::loop_range(CXCursor cursor) {
  Node* n = make(Op::loop_range, cursor);
  const Cursors kids = children_of(cursor);
  if (kids.size() < 3) return others(cursor);
  for (const CXCursor& kid : kids) {
    if (kid.kind == CXCursor_VarDecl) {
      n->variable = variable_of(kid);
      if (scope_) scope_->declared.insert(n->variable);
    } else if (kid.kind == CXCursor_UnexposedDecl) {
      for (const CXCursor& part : children_of(kid))
        if (part.kind == CXCursor_UnexposedDecl) {
          n->bindings.push_back(variable_of(part));
          if (scope_) scope_->declared.insert(n->bindings.back());
        }
      n->type = type_of(clang_getCursorType(kid));
    }
  }
  n->kids = {expr(kids[kids.size() - 2]), stmt(kids.back())};
  return n;
}

Node* Lowering::Impl::choose(CXCursor cursor) {
  Node* n = make(Op::choose, cursor);
  const Cursors kids = children_of(cursor);
  size_t i = 0;
  while (i < kids.size() && (kids[i].kind == CXCursor_DeclStmt || kids[i].kind == CXCursor_VarDecl)) {
    n->kids.push_back(kids[i].kind == CXCursor_VarDecl ? declare(kids[i]) : stmt(kids[i]));
    ++i;
  }
  n->split = static_cast<uint16_t>(n->kids.size());
  if (kids.size() - i < 2) return others(cursor);
  n->kids.push_back(expr(kids[i]));
  n->kids.push_back(stmt(kids[i + 1]));
  return n;
}

Node* Lowering::Impl::stmt(CXCursor cursor) {
  switch (cursor.kind) {
    case CXCursor_CompoundStmt:
      return block(cursor);
    case CXCursor_DeclStmt: {
      const Cursors kids = children_of(cursor);
      if (kids.size() == 1) return declare(kids[0]);
      Node* n = make(Op::block, cursor);
      n->sub = 1;  // no scope of its own
      for (const CXCursor& kid : kids) n->kids.push_back(declare(kid));
      return n;
    }
    case CXCursor_IfStmt:
      return when(cursor);
    case CXCursor_WhileStmt:
      return loop_while(cursor);
    case CXCursor_DoStmt: {
      const Cursors kids = children_of(cursor);
      if (kids.size() != 2) return others(cursor);
      Node* n = make(Op::loop_do, cursor);
      n->kids = {stmt(kids[0]), expr(kids[1])};
      return n;
    }
    case CXCursor_ForStmt:
      return loop_for(cursor);
    case CXCursor_CXXForRangeStmt:
      return loop_range(cursor);
    case CXCursor_SwitchStmt:
      return choose(cursor);
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt: {
      Node* n = make(cursor.kind == CXCursor_CaseStmt ? Op::label_case : Op::label_default, cursor);
      const Cursors kids = children_of(cursor);
      if (kids.empty()) return n;
      if (cursor.kind == CXCursor_CaseStmt && kids.size() == 2) {
        Node* value = expr(kids[0]);
        while (value->op == Op::convert && value->kids.size() == 1) value = value->kids[0];
        n->has_value = value->has_value;
        n->value = value->value;
      }
      n->kids.push_back(stmt(kids.back()));
      return n;
    }
    case CXCursor_ReturnStmt: {
      Node* n = make(Op::give_back, cursor);
      for (const CXCursor& kid : expressions_of(cursor)) n->kids.push_back(expr(kid));
      return n;
    }
    case CXCursor_BreakStmt:
      return make(Op::leave, cursor);
    case CXCursor_ContinueStmt:
      return make(Op::proceed, cursor);
    case CXCursor_GotoStmt: {
      Node* n = make(Op::jump, cursor);
      n->name = program_.intern(spelling_of(clang_getCursorReferenced(cursor)));
      if (scope_ && scope_->function && scope_->labels.contains(n->name))
        scope_->function->has_backward_jump = true;
      return n;
    }
    case CXCursor_LabelStmt: {
      Node* n = make(Op::label, cursor);
      n->name = program_.intern(spelling_of(cursor));
      if (scope_) scope_->labels.insert(n->name);
      for (const CXCursor& kid : children_of(cursor)) n->kids.push_back(stmt(kid));
      return n;
    }
    case CXCursor_CXXTryStmt: {
      Node* n = make(Op::attempt, cursor);
      for (const CXCursor& kid : children_of(cursor)) n->kids.push_back(stmt(kid));
      return n;
    }
    case CXCursor_CXXCatchStmt: {
      Node* n = make(Op::handler, cursor);
      for (const CXCursor& kid : children_of(cursor))
        n->kids.push_back(kid.kind == CXCursor_VarDecl ? declare(kid) : stmt(kid));
      return n;
    }
    case CXCursor_NullStmt:
      return make(Op::nothing, cursor);
    case CXCursor_VarDecl:
    case CXCursor_UnexposedDecl:
      return declare(cursor);
    default:
      if (clang_isExpression(cursor.kind)) return expr(cursor);
      return others(cursor);
  }
}

}  // namespace capgate::lint
