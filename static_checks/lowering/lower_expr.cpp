// Expressions. Casts and temporaries that change nothing for the analysis vanish here.
#include <cstdlib>

#include "static_checks/lowering/lower_impl.h"

namespace capgate::lint {

Node* Lowering::Impl::make(Op op, CXCursor cursor) {
  Node* n = program_.node(op);
  // Line and column only where they are asked for: libclang takes long to find them.
  CXFile file = nullptr;
  unsigned offset = 0;
  clang_getExpansionLocation(clang_getCursorLocation(cursor), &file, nullptr, nullptr, &offset);
  n->file = file_id(file);
  n->offset = offset;
  if (clang_isExpression(cursor.kind)) n->type = type_of(clang_getCursorType(cursor));
  return n;
}

// The children that are expressions: a type or a namespace that is named on the way is none.
Cursors Lowering::Impl::expressions_of(CXCursor cursor) {
  Cursors kids = children_of(cursor);
  std::erase_if(kids,
                [](const CXCursor& c) { return !clang_isExpression(c.kind) && !clang_isStatement(c.kind); });
  return kids;
}

Node* Lowering::Impl::others(CXCursor cursor) {
  Node* n = make(Op::other, cursor);
  for (const CXCursor& kid : children_of(cursor))
    if (clang_isExpression(kid.kind))
      n->kids.push_back(expr(kid));
    else if (clang_isStatement(kid.kind) || clang_isDeclaration(kid.kind))
      n->kids.push_back(stmt(kid));
  return n;
}

void Lowering::Impl::refer(Variable* variable) {
  if (scope_) scope_->named.insert(variable);
}

Node* Lowering::Impl::self(CXCursor cursor) {
  Node* n = make(Op::this_pointer, cursor);
  if (scope_ && scope_->function) {
    n->variable = scope_->function->self;
    if (n->variable) {
      n->type = n->variable->type;
      refer(n->variable);
    }
  }
  return n;
}

Node* Lowering::Impl::dereferenced(Node* pointer, CXCursor cursor) {
  Node* n = make(Op::deref, cursor);
  n->type = pointer->type ? pointer->type->inner : nullptr;
  n->kids.push_back(pointer);
  return n;
}

Node* Lowering::Impl::name(CXCursor cursor) {
  const CXCursor target = clang_getCursorReferenced(cursor);
  switch (target.kind) {
    case CXCursor_EnumConstantDecl: {
      Node* n = make(Op::constant, cursor);
      n->has_value = true;
      n->value = clang_getEnumConstantDeclValue(target);
      n->name = program_.intern(spelling_of(target));
      return n;
    }
    case CXCursor_FunctionDecl:
    case CXCursor_CXXMethod:
    case CXCursor_FunctionTemplate: {
      Node* n = make(Op::function, cursor);
      n->function = function_of(target);
      if (scope_) scope_->called.insert(n->function);
      return n;
    }
    case CXCursor_VarDecl:
    case CXCursor_ParmDecl:
    case CXCursor_UnexposedDecl:
    case CXCursor_FieldDecl: {
      if (target.kind == CXCursor_FieldDecl) break;
      Node* n = make(Op::variable, cursor);
      n->variable = variable_of(target);
      refer(n->variable);
      const Type* type = n->variable->type;
      if (type && type->is_const &&
          (type->shape == Shape::scalar || type->shape == Shape::boolean ||
           type->shape == Shape::enumeration)) {
        const auto [it, fresh] = constants_.try_emplace(n->variable, false, 0);
        if (fresh && n->variable->scope != Variable::Scope::parameter)
          if (CXEvalResult result = clang_Cursor_Evaluate(cursor)) {
            if (clang_EvalResult_getKind(result) == CXEval_Int)
              it->second = {true, clang_EvalResult_getAsLongLong(result)};
            clang_EvalResult_dispose(result);
          }
        n->has_value = it->second.first;
        n->value = it->second.second;
      }
      return n;
    }
    default:
      break;
  }
  return others(cursor);
}

Node* Lowering::Impl::member(CXCursor cursor) {
  const CXCursor target = clang_getCursorReferenced(cursor);
  if (target.kind != CXCursor_FieldDecl) return name(cursor);
  Node* n = make(Op::field, cursor);
  n->name = program_.intern(spelling_of(target));
  const Cursors kids = expressions_of(cursor);
  Node* object = kids.empty() ? self(cursor) : expr(kids[0]);
  if (object->type && object->type->shape == Shape::pointer) object = dereferenced(object, cursor);
  n->kids.push_back(object);
  return n;
}

void Lowering::Impl::add_arguments(Node* node, CXCursor cursor, Function* callee, int first) {
  const int n = clang_Cursor_getNumArguments(cursor);
  for (int i = first; i < n; ++i) {
    const CXCursor argument = clang_Cursor_getArgument(cursor, static_cast<unsigned>(i));
    const bool is_default = argument.kind == CXCursor_UnexposedExpr && children_of(argument).empty();
    const auto position = static_cast<size_t>(i - first);
    const Node* usual = is_default && callee ? default_of(*callee, position) : nullptr;
    if (usual) {
      // A copy that stands at the call: findings in a default argument belong there.
      Node* given = program_.node(Op::convert);
      const uint32_t id = given->id;
      *given = *usual;
      given->id = id;
      given->file = node->file;
      given->offset = node->offset;
      given->implicit = true;
      node->kids.push_back(given);
    } else if (is_default) {
      Node* given = make(Op::other, argument);
      given->implicit = true;
      node->kids.push_back(given);
    } else {
      node->kids.push_back(expr(argument));
    }
  }
}

Node* Lowering::Impl::launch(CXCursor cursor, const Cursors& kids) {
  Node* n = make(Op::launch, cursor);
  const CXCursor target = clang_getCursorReferenced(cursor);
  if (target.kind == CXCursor_FunctionDecl || target.kind == CXCursor_CXXMethod)
    n->function = function_of(target);
  for (unsigned i = 0; i < 4; ++i) {
    const CXCursor argument = clang_Cursor_getArgument(kids[1], i);
    if (clang_Cursor_isNull(argument)) {
      n->kids.push_back(make(Op::nothing, cursor));
      continue;
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
    given->implicit = argument.kind == CXCursor_UnexposedExpr && children_of(argument).empty();
    n->kids.push_back(given);
  }
  add_arguments(n, cursor, nullptr, 0);
  return n;
}

Node* Lowering::Impl::construct(CXCursor cursor, Function* constructor) {
  Node* n = make(Op::construct, cursor);
  n->function = constructor;
  n->record = constructor->record;
  if (scope_) scope_->called.insert(constructor);
  if (n->type && n->type->record) {
    n->record = n->type->record;
    complete(*n->record);
    for (Function* destructor : {n->record->destructor, n->record->destructor_elsewhere})
      if (destructor && scope_) scope_->called.insert(destructor);
  }
  add_arguments(n, cursor, constructor, 0);
  return n;
}

CXCursor stripped(CXCursor cursor) {
  while (cursor.kind == CXCursor_UnexposedExpr || cursor.kind == CXCursor_ParenExpr) {
    const Cursors kids = children_of(cursor);
    if (kids.size() != 1) break;
    cursor = kids[0];
  }
  return cursor;
}

bool is_operator(const std::string& name) {
  return name.starts_with("operator") && name.size() > 8 &&
         !std::isalnum(static_cast<unsigned char>(name[8])) && name[8] != '_' && name[8] != ' ';
}

Node* Lowering::Impl::call(CXCursor cursor) {
  const Cursors kids = expressions_of(cursor);
  CXCursor target = clang_getCursorReferenced(cursor);
  if (target.kind == CXCursor_Constructor) return construct(cursor, function_of(target));
  if (kids.size() > 1 && kids[1].kind == CXCursor_CallExpr &&
      spelling_of(kids[1]) == "__cudaPushCallConfiguration")
    return launch(cursor, kids);
  if (kids.empty()) return others(cursor);
  if (Node* operation = open_operator(cursor, kids)) return operation;
  const CXCursor first = stripped(kids[0]);
  if (target.kind == CXCursor_OverloadedDeclRef || clang_Cursor_isNull(target) ||
      clang_isInvalid(target.kind)) {
    // In the pattern of a template the overload is open; the name is enough for what is modelled by name.
    for (const CXCursor& part : children_of(first))
      if (part.kind == CXCursor_OverloadedDeclRef && clang_getNumOverloadedDecls(part) > 0)
        target = clang_getOverloadedDecl(part, 0);
    if (target.kind == CXCursor_CXXMethod && first.kind == CXCursor_MemberRefExpr) {
      Node* n = make(Op::call, cursor);
      n->function = function_of(target);
      if (scope_) scope_->called.insert(n->function);
      const Cursors inner = expressions_of(first);
      Node* object = inner.empty() ? self(cursor) : expr(inner[0]);
      if (object->type && object->type->shape == Shape::pointer) object = dereferenced(object, cursor);
      n->has_object = true;
      n->kids.push_back(object);
      for (size_t k = 1; k < kids.size(); ++k) n->kids.push_back(expr(kids[k]));
      return n;
    }
    if (target.kind == CXCursor_FunctionTemplate || target.kind == CXCursor_FunctionDecl) {
      Node* n = make(Op::call, cursor);
      n->function = function_of(target);
      if (scope_) scope_->called.insert(n->function);
      for (size_t i = 1; i < kids.size(); ++i) n->kids.push_back(expr(kids[i]));
      return n;
    }
  }
  const bool is_function = target.kind == CXCursor_FunctionDecl || target.kind == CXCursor_CXXMethod ||
                           target.kind == CXCursor_ConversionFunction || target.kind == CXCursor_Destructor ||
                           target.kind == CXCursor_FunctionTemplate;
  Node* n = make(Op::call, cursor);
  if (!is_function) {
    n->has_object = true;  // what is called
    n->kids.push_back(expr(kids[0]));
    add_arguments(n, cursor, nullptr, 0);
    return n;
  }
  Function* f = function_of(target);
  n->function = f;
  if (scope_) scope_->called.insert(f);
  const bool bound =
      first.kind == CXCursor_MemberRefExpr &&
      take(clang_getTypeSpelling(clang_getCursorType(first))) == "<bound member function type>";
  if (bound) {
    if (f->is_static) {
      add_arguments(n, cursor, f, 0);
      return n;
    }
    const Cursors inner = expressions_of(first);
    Node* object = inner.empty() ? self(cursor) : expr(inner[0]);
    if (object->type && object->type->shape == Shape::pointer) object = dereferenced(object, cursor);
    n->has_object = true;
    n->kids.push_back(object);
    add_arguments(n, cursor, f, 0);
    return n;
  }
  if (is_operator(f->spelled) && target.kind == CXCursor_CXXMethod && !f->is_static &&
      clang_Cursor_getNumArguments(cursor) > 0) {
    n->has_object = true;
    n->kids.push_back(expr(clang_Cursor_getArgument(cursor, 0)));
    add_arguments(n, cursor, f, 1);
    return n;
  }
  add_arguments(n, cursor, f, 0);
  return n;
}

Node* Lowering::Impl::create(CXCursor cursor) {
  Node* n = make(Op::make, cursor);
  CXTranslationUnit tu = clang_Cursor_getTranslationUnit(cursor);
  CXToken* tokens = nullptr;
  unsigned count = 0;
  clang_tokenize(tu, clang_getCursorExtent(cursor), &tokens, &count);
  bool array = false;
  int depth = 0;
  for (unsigned i = 0; i < count; ++i) {
    const std::string word = take(clang_getTokenSpelling(tu, tokens[i]));
    if (word == "<") ++depth;
    if (word == ">") --depth;
    if (depth == 0 && (word == "(" || word == "{") && i > 1) break;
    if (depth == 0 && word == "[") {
      array = true;
      break;
    }
  }
  if (tokens) clang_disposeTokens(tu, tokens, count);
  const Cursors kids = expressions_of(cursor);
  Node* size = nullptr;
  Node* initial = nullptr;
  for (const CXCursor& kid : kids) {
    if (array && !size)
      size = expr(kid);
    else
      initial = expr(kid);
  }
  n->kids = {initial, size};
  if (n->type && n->type->inner && n->type->inner->record) n->record = n->type->inner->record;
  return n;
}

Node* Lowering::Impl::list(CXCursor cursor) {
  Node* n = make(Op::list, cursor);
  for (const CXCursor& kid : children_of(cursor)) {
    if (!clang_isExpression(kid.kind)) continue;
    const Cursors parts = children_of(kid);
    if (kid.kind == CXCursor_UnexposedExpr && parts.size() == 2 && parts[0].kind == CXCursor_MemberRef) {
      Node* designated = make(Op::convert, kid);
      designated->name = program_.intern(spelling_of(parts[0]));
      designated->kids.push_back(expr(parts[1]));
      n->kids.push_back(designated);
    } else {
      n->kids.push_back(expr(kid));
    }
  }
  if (n->type && n->type->record) {
    n->record = n->type->record;
    complete(*n->record);
  }
  return n;
}

Node* Lowering::Impl::lambda(CXCursor cursor) {
  Node* n = make(Op::lambda, cursor);
  n->function = lambda_of(cursor);
  for (const CXCursor& kid : children_of(cursor))
    if (kid.kind == CXCursor_VarDecl) n->kids.push_back(declare(kid));
  Scope* const outer = scope_;
  lower(*n->function);
  scope_ = outer;
  if (scope_) {
    for (Variable* v : n->function->captures) refer(v);
    for (Variable* v : n->function->globals) refer(v);
    scope_->called.insert(n->function);
  }
  return n;
}

// An implicit conversion, a temporary, the GNU `a ?: b`, or something that the C API has no kind for.
Node* Lowering::Impl::unwrap(CXCursor cursor, const Cursors& kids) {
  if (kids.size() == 4) {
    Node* n = make(Op::conditional, cursor);
    n->kids = {expr(kids[1]), expr(kids[0]), expr(kids[3])};
    return n;
  }
  if (kids.size() != 1) return others(cursor);
  Node* inner = expr(kids[0]);
  const Type* type = type_of(clang_getCursorType(cursor));
  if (!inner->type || !type || type == inner->type) return inner;
  if (type->shape == inner->type->shape && type->shape != Shape::scalar) {
    if (type->shape == Shape::pointer || type->record == inner->type->record) return inner;
  }
  if (type->shape == Shape::other && inner->op != Op::function) return inner;
  Node* n = make(Op::convert, cursor);
  n->kids.push_back(inner);
  return n;
}

Node* Lowering::Impl::text(CXCursor cursor) {
  Node* n = make(Op::text, cursor);
  std::string word = spelling_of(cursor);
  if (word.size() >= 2 && word.front() == '"' && word.back() == '"') word = word.substr(1, word.size() - 2);
  n->name = program_.intern(word);
  return n;
}

Node* Lowering::Impl::expr(CXCursor cursor) {
  switch (cursor.kind) {
    case CXCursor_UnexposedExpr:
      return unwrap(cursor, expressions_of(cursor));
    case CXCursor_ParenExpr:
    case CXCursor_ConceptSpecializationExpr: {
      const Cursors kids = expressions_of(cursor);
      return kids.size() == 1 ? expr(kids[0]) : others(cursor);
    }
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXReinterpretCastExpr:
    case CXCursor_CXXConstCastExpr:
    case CXCursor_CXXDynamicCastExpr:
    case CXCursor_CXXFunctionalCastExpr: {
      const Cursors kids = expressions_of(cursor);
      if (kids.size() != 1) return others(cursor);
      Node* n = make(Op::convert, cursor);
      n->kids.push_back(expr(kids[0]));
      return n;
    }
    case CXCursor_IntegerLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_CXXBoolLiteralExpr:
    case CXCursor_UnaryExpr: {
      Node* n = make(Op::constant, cursor);
      if (CXEvalResult result = clang_Cursor_Evaluate(cursor)) {
        if (clang_EvalResult_getKind(result) == CXEval_Int) {
          n->has_value = true;
          n->value = clang_EvalResult_getAsLongLong(result);
        }
        clang_EvalResult_dispose(result);
      }
      return n;
    }
    case CXCursor_CXXNullPtrLiteralExpr:
    case CXCursor_GNUNullExpr: {
      Node* n = make(Op::constant, cursor);
      n->has_value = true;
      return n;
    }
    case CXCursor_FloatingLiteral:
    case CXCursor_ImaginaryLiteral:
      return make(Op::constant, cursor);
    case CXCursor_StringLiteral:
      return text(cursor);
    case CXCursor_DeclRefExpr:
      return name(cursor);
    case CXCursor_MemberRefExpr:
      return member(cursor);
    case CXCursor_CXXThisExpr:
      return self(cursor);
    case CXCursor_CallExpr:
      return call(cursor);
    case CXCursor_LambdaExpr:
      return lambda(cursor);
    case CXCursor_InitListExpr:
      return list(cursor);
    case CXCursor_CXXNewExpr:
      return create(cursor);
    case CXCursor_CXXDeleteExpr: {
      Node* n = make(Op::destroy, cursor);
      for (const CXCursor& kid : expressions_of(cursor)) n->kids.push_back(expr(kid));
      if (!n->kids.empty() && n->kids[0]->type && n->kids[0]->type->inner &&
          n->kids[0]->type->inner->record) {
        n->record = n->kids[0]->type->inner->record;
        complete(*n->record);
        if (n->record->destructor && scope_) scope_->called.insert(n->record->destructor);
      }
      return n;
    }
    case CXCursor_CXXThrowExpr: {
      Node* n = make(Op::raise, cursor);
      for (const CXCursor& kid : expressions_of(cursor)) n->kids.push_back(expr(kid));
      return n;
    }
    case CXCursor_ArraySubscriptExpr: {
      const Cursors kids = expressions_of(cursor);
      if (kids.size() != 2) return others(cursor);
      Node* n = make(Op::index, cursor);
      n->kids = {expr(kids[0]), expr(kids[1])};
      return n;
    }
    case CXCursor_ConditionalOperator: {
      const Cursors kids = expressions_of(cursor);
      if (kids.size() != 3) return others(cursor);
      Node* n = make(Op::conditional, cursor);
      n->kids = {expr(kids[0]), expr(kids[1]), expr(kids[2])};
      return n;
    }
    case CXCursor_UnaryOperator: {
      const Cursors kids = expressions_of(cursor);
      if (kids.size() != 1) return others(cursor);
      const CXUnaryOperatorKind op = clang_getCursorUnaryOperatorKind(cursor);
      Op made = Op::unary;
      if (op == CXUnaryOperator_Deref) made = Op::deref;
      if (op == CXUnaryOperator_AddrOf) made = Op::address;
      if (op == CXUnaryOperator_PostInc || op == CXUnaryOperator_PostDec || op == CXUnaryOperator_PreInc ||
          op == CXUnaryOperator_PreDec)
        made = Op::step;
      Node* n = make(made, cursor);
      n->sub = static_cast<uint8_t>(op);
      n->kids.push_back(expr(kids[0]));
      return n;
    }
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator: {
      const Cursors kids = expressions_of(cursor);
      if (kids.size() != 2) return others(cursor);
      const CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(cursor);
      Op made = Op::binary;
      if (cursor.kind == CXCursor_CompoundAssignOperator)
        made = Op::compound_assign;
      else if (op == CXBinaryOperator_Assign)
        made = Op::assign;
      else if (op == CXBinaryOperator_LAnd)
        made = Op::logical_and;
      else if (op == CXBinaryOperator_LOr)
        made = Op::logical_or;
      else if (op == CXBinaryOperator_Comma)
        made = Op::comma;
      Node* n = make(made, cursor);
      n->sub = static_cast<uint8_t>(op);
      n->kids = {expr(kids[0]), expr(kids[1])};
      return n;
    }
    case CXCursor_StmtExpr: {
      Node* n = make(Op::statements, cursor);
      for (const CXCursor& kid : children_of(cursor)) n->kids.push_back(stmt(kid));
      return n;
    }
    default:
      return others(cursor);
  }
}

}  // namespace capgate::lint
