// Types, records, variables and functions.
#include <algorithm>
#include <cctype>
#include <ranges>

#include "static_checks/lowering/lower_impl.h"

namespace capgate::lint {

Cursors children_of(CXCursor cursor) {
  Cursors kids;
  kids.reserve(4);
  clang_visitChildren(
      cursor,
      [](CXCursor child, CXCursor, CXClientData data) {
        static_cast<Cursors*>(data)->push_back(child);
        return CXChildVisit_Continue;
      },
      &kids);
  return kids;
}

std::string spelling_of(CXCursor cursor) {
  return take(clang_getCursorSpelling(cursor));
}

bool ends_with_status_word(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* tail : {"_t", "_enum"})
    if (name.ends_with(tail)) {
      name.resize(name.size() - std::string_view(tail).size());
      break;
    }
  return name.ends_with("error") || name.ends_with("result") || name.ends_with("status") ||
         name.ends_with("errc");
}

// The compiler's, the system's and the toolkit's headers: what they do is known, or harmless in a capture.
bool is_of_the_system(const std::string& file) {
  for (const char* place :
       {"/include/c++/", "/lib/clang/", "/lib/gcc/", "/usr/local/cuda", "/targets/x86_64-linux/include/",
        "/targets/sbsa-linux/include/", "/nvidia/cu", "capgate_prelude"})
    if (file.find(place) != std::string::npos) return true;
  return file.empty() || file.starts_with("/usr/include/") || file.starts_with("/usr/lib/");
}

// What of these waits or copies is in the tables of sources.
bool is_of_a_known_library(const std::string& name) {
  for (const char* space : {"at::", "c10::", "torch::", "thrust::", "cub::", "cuda::", "nvtx3::", "std::"})
    if (name.starts_with(space)) return true;
  return false;
}

// What a tensor is made of: what its functions do is known by name, wherever its headers lie.
bool is_inside_a_tensor(const std::string& name) {
  for (const char* part :
       {"at::Tensor", "at::_ops::", "c10::intrusive_ptr", "c10::Scalar", "c10::Device", "c10::impl::"})
    if (name.starts_with(part)) return true;
  return false;
}

uint32_t Lowering::Impl::file_id(CXFile file) {
  if (!file) return 0;
  const auto [it, fresh] = files_.try_emplace(file);
  if (fresh) {
    const std::string& path = unit_.path_of(file);
    const auto known = std::find(program_.files.begin(), program_.files.end(), path);
    it->second = static_cast<uint32_t>(known - program_.files.begin());
    if (known == program_.files.end()) program_.files.push_back(path);
  }
  return it->second;
}

Place Lowering::Impl::place_of(CXCursor cursor) {
  CXFile file = nullptr;
  unsigned line = 0, column = 0;
  clang_getExpansionLocation(clang_getCursorLocation(cursor), &file, &line, &column, nullptr);
  return {program_.files[file_id(file)], static_cast<int>(line), static_cast<int>(column)};
}

void Lowering::Impl::place(Function& function, CXCursor cursor) {
  CXFile file = nullptr;
  unsigned line = 0, column = 0;
  clang_getExpansionLocation(clang_getCursorLocation(cursor), &file, &line, &column, &function.offset);
  function.file = file_id(file);
  function.place = {program_.files[function.file], static_cast<int>(line), static_cast<int>(column)};
}

const Type* Lowering::Impl::type_of(CXType given) {
  const auto found = types_.find(given.data[0]);
  if (found != types_.end()) return found->second;
  const CXType type = clang_getCanonicalType(given);
  if (const auto same = types_.find(type.data[0]); same != types_.end())
    return types_[given.data[0]] = same->second;
  Type& made = program_.types.emplace_back();
  types_[given.data[0]] = &made;
  types_[type.data[0]] = &made;
  made.is_const = clang_isConstQualifiedType(type) != 0;
  switch (type.kind) {
    case CXType_Bool:
      made.shape = Shape::boolean;
      break;
    case CXType_Pointer:
    case CXType_NullPtr:
    case CXType_MemberPointer:
      made.shape = Shape::pointer;
      if (type.kind == CXType_Pointer) made.inner = type_of(clang_getPointeeType(type));
      break;
    case CXType_LValueReference:
    case CXType_RValueReference:
      made.shape = Shape::reference;
      made.inner = type_of(clang_getPointeeType(type));
      break;
    case CXType_ConstantArray:
    case CXType_IncompleteArray:
    case CXType_VariableArray:
    case CXType_DependentSizedArray:
      made.shape = Shape::array;
      made.inner = type_of(clang_getArrayElementType(type));
      break;
    case CXType_Enum:
      made.shape = Shape::enumeration;
      made.spelling = take(clang_getTypeSpelling(type));
      made.status = ends_with_status_word(made.spelling);
      break;
    case CXType_Record:
      made.shape = Shape::record;
      made.spelling = take(clang_getTypeSpelling(type));
      made.record = record_of(clang_getTypeDeclaration(type));
      break;
    default:
      if (type.kind >= CXType_FirstBuiltin && type.kind <= CXType_LastBuiltin && type.kind != CXType_Void &&
          type.kind != CXType_Dependent && type.kind != CXType_Overload)
        made.shape = Shape::scalar;
      break;
  }
  if (made.shape != Shape::other && made.shape != Shape::reference && made.shape != Shape::array)
    if (const long long size = clang_Type_getSizeOf(type); size > 0) made.size = size;
  return &made;
}

std::string Lowering::Impl::qualified(CXCursor declaration) {
  std::vector<std::string> parts;
  for (CXCursor c = declaration;
       !clang_Cursor_isNull(c) && !clang_isInvalid(c.kind) && c.kind != CXCursor_TranslationUnit;
       c = clang_getCursorSemanticParent(c)) {
    if (c.kind == CXCursor_Namespace && clang_Cursor_isInlineNamespace(c)) continue;
    if (c.kind == CXCursor_LinkageSpec || c.kind == CXCursor_UnexposedDecl) continue;
    std::string part = spelling_of(c);
    if (part.starts_with("(lambda")) {
      parts.assign(1, "lambda");  // its call operator has no name of its own
      continue;
    }
    if (c.kind == CXCursor_Namespace && (part.empty() || part.starts_with("(")))
      part = "(anonymous namespace)";
    if (part.empty() || (part.starts_with("(") && c.kind != CXCursor_Namespace)) continue;
    if (const size_t angle = part.find('<'); angle != std::string::npos && !part.starts_with("operator"))
      part.resize(angle);
    parts.push_back(std::move(part));
  }
  std::string name;
  for (const std::string& part : parts | std::views::reverse) {
    if (!name.empty()) name += "::";
    name += part;
  }
  return name;
}

Record* Lowering::Impl::record_of(CXCursor declaration) {
  CXCursor definition = clang_getCursorDefinition(declaration);
  if (clang_Cursor_isNull(definition)) definition = declaration;
  const auto [it, fresh] = records_.try_emplace(definition.data[0]);
  if (!fresh) return it->second;
  Record& record = program_.records.emplace_back();
  it->second = &record;
  record.name = qualified(definition);
  // capgate.h is looked into wherever it is installed: its scopes begin and end regions.
  record.user =
      (unit_.is_user(definition) && !is_inside_a_tensor(record.name)) || record.name.starts_with("capgate::");
  record.is_union = definition.kind == CXCursor_UnionDecl;
  record_cursors_[&record] = definition;
  if (record.name == "std::unique_ptr" || record.name == "std::shared_ptr" ||
      record.name == "std::optional") {
    const CXType held = clang_Type_getTemplateArgumentAsType(clang_getCursorType(definition), 0);
    if (clang_getCanonicalType(held).kind == CXType_Record) record.held = type_of(held)->record;
  }
  return &record;
}

void Lowering::Impl::complete(Record& record) {
  if (record.fields_known) return;
  record.fields_known = true;
  const CXCursor cursor = record_cursors_[&record];
  struct Visit {
    Impl* self;
    Record* record;
  } visit{this, &record};
  clang_Type_visitFields(
      clang_getCursorType(cursor),
      [](CXCursor field, CXClientData data) {
        const auto* v = static_cast<Visit*>(data);
        Field f;
        f.name = v->self->program_.intern(spelling_of(field));
        f.type = v->self->type_of(clang_getCursorType(field));
        v->record->fields.push_back(f);
        return CXVisit_Continue;
      },
      &visit);
  if (!record.user) {  // never looked into
    const CXType type = clang_getCursorType(cursor);
    const bool owns = record.name.starts_with("std::") && !record.held &&
                      !record.name.ends_with("function") && !record.name.ends_with("allocator") &&
                      record.name.find("iterator") == std::string::npos;
    const int arguments = owns ? clang_Type_getNumTemplateArguments(type) : 0;
    for (int i = 0; i < arguments; ++i) {
      const CXType argument =
          clang_getCanonicalType(clang_Type_getTemplateArgumentAsType(type, static_cast<unsigned>(i)));
      if (argument.kind != CXType_Record) continue;
      Record* content = type_of(argument)->record;
      if (content && content != &record && content->user) record.contents.push_back(content);
    }
    return;
  }
  CXCursor members = cursor;
  Cursors kids = children_of(cursor);
  if (kids.empty() ||
      clang_getCursorKind(clang_getSpecializedCursorTemplate(cursor)) == CXCursor_ClassTemplate) {
    // The C API does not visit an implicit instantiation; its pattern has the same members by name.
    const CXCursor pattern = clang_getSpecializedCursorTemplate(cursor);
    if (!clang_Cursor_isNull(pattern) && kids.empty()) {
      members = clang_getCursorDefinition(pattern);
      if (clang_Cursor_isNull(members)) members = pattern;
      kids = children_of(members);
    }
  }
  for (const CXCursor& kid : kids) {
    if (kid.kind == CXCursor_CXXBaseSpecifier) {
      const Type* base = type_of(clang_getCursorType(kid));
      if (base->record) record.bases.push_back(base->record);
    } else if (kid.kind == CXCursor_Destructor) {
      Function* f = function_of(kid);
      if (f->has_body && record.user) record.destructor = f;
      if (!f->has_body && !f->is_defaulted && f->user) record.destructor_elsewhere = f;
    } else if (kid.kind == CXCursor_Constructor && record.user) {
      if (clang_Cursor_getNumArguments(kid) == 0) record.default_constructor = function_of(kid);
    } else if (kid.kind == CXCursor_FieldDecl && record.user) {
      const uint32_t name = program_.intern(spelling_of(kid));
      for (const CXCursor& part : children_of(kid)) {
        if (!clang_isExpression(part.kind) || clang_Cursor_isBitField(kid)) continue;
        const CXTypeKind shape = clang_getCanonicalType(clang_getCursorType(kid)).kind;
        if (shape == CXType_ConstantArray) continue;  // its bound, not an initial value
        Scope outside;
        Scope* const before = scope_;
        if (!scope_) scope_ = &outside;
        for (Field& f : record.fields)
          if (f.name == name) f.initial = expr(part);
        scope_ = before;
      }
    }
  }
}

Variable* Lowering::Impl::variable_of(CXCursor given) {
  const CXCursor cursor = clang_getCanonicalCursor(given);
  const auto [it, fresh] = variables_.try_emplace(cursor.data[0]);
  if (!fresh) return it->second;
  Variable& v = program_.variables.emplace_back();
  it->second = &v;
  v.id = static_cast<uint32_t>(program_.variables.size());
  v.name = spelling_of(cursor);
  v.type = type_of(clang_getCursorType(given));
  v.place = place_of(cursor);
  if (cursor.kind == CXCursor_ParmDecl) {
    v.scope = Variable::Scope::parameter;
  } else if (cursor.kind == CXCursor_VarDecl) {
    const CXCursor parent = clang_getCursorSemanticParent(cursor);
    const bool in_function = parent.kind == CXCursor_FunctionDecl || parent.kind == CXCursor_CXXMethod ||
                             parent.kind == CXCursor_Constructor || parent.kind == CXCursor_Destructor ||
                             parent.kind == CXCursor_FunctionTemplate ||
                             parent.kind == CXCursor_ConversionFunction || parent.kind == CXCursor_LambdaExpr;
    const bool is_static = clang_Cursor_getStorageClass(cursor) == CX_SC_Static;
    if (!in_function)
      v.scope = Variable::Scope::global;
    else if (is_static || clang_getCursorTLSKind(cursor) != CXTLS_None)
      v.scope = Variable::Scope::static_local;
    if (v.scope != Variable::Scope::local) variable_cursors_[&v] = given;
    if (!in_function || is_static)
      for (const CXCursor& kid : children_of(cursor)) {
        if (kid.kind == CXCursor_CUDADeviceAttr || kid.kind == CXCursor_CUDAConstantAttr) v.on_device = true;
      }
    if (!in_function && !v.on_device) {
      // clang ignores __managed__ in CUDA: read the words in front of the declaration.
      CXTranslationUnit tu = clang_Cursor_getTranslationUnit(cursor);
      CXToken* tokens = nullptr;
      unsigned n = 0;
      if (unit_.is_user(cursor)) {
        CXFile file = nullptr;
        unsigned line = 0;
        clang_getExpansionLocation(clang_getCursorLocation(cursor), &file, &line, nullptr, nullptr);
        clang_tokenize(tu,
                       clang_getRange(clang_getLocation(tu, file, line, 1), clang_getCursorLocation(cursor)),
                       &tokens, &n);
      }
      for (unsigned i = 0; i < n && i < 12; ++i)
        if (take(clang_getTokenSpelling(tu, tokens[i])) == "__managed__") v.managed = true;
      if (tokens) clang_disposeTokens(tu, tokens, n);
      if (v.managed) program_.managed.push_back(&v);
    }
  }
  return &v;
}

const Node* Lowering::Impl::initial_of(const Variable& variable) {
  const auto [it, fresh] = initials_.try_emplace(&variable, nullptr);
  const auto known = variable_cursors_.find(&variable);
  if (!fresh || known == variable_cursors_.end()) return it->second;
  CXCursor definition = clang_getCursorDefinition(known->second);
  if (clang_Cursor_isNull(definition)) definition = known->second;
  const CXCursor initial = clang_Cursor_getVarDeclInitializer(definition);
  if (clang_Cursor_isNull(initial)) return nullptr;
  Scope outside;
  Scope* const before = scope_;
  scope_ = &outside;
  const Node* made = expr(initial);
  scope_ = before;
  return initials_[&variable] = made;
}

Variable* Lowering::Impl::self_of(CXCursor method) {
  CXCursor owner = clang_getCursorSemanticParent(method);
  // Inside a lambda `this` is the enclosing method's.
  for (int depth = 0; depth < 8; ++depth) {
    const std::string word = spelling_of(owner);
    if (!(word.empty() || word.starts_with("(lambda"))) break;
    const CXCursor up = clang_getCursorSemanticParent(owner);
    if (up.kind != CXCursor_CXXMethod && up.kind != CXCursor_Constructor && up.kind != CXCursor_Destructor)
      break;
    Function* outer = function_of(up);
    if (outer->self) return outer->self;
    owner = clang_getCursorSemanticParent(up);
  }
  Variable& v = program_.variables.emplace_back();
  v.id = static_cast<uint32_t>(program_.variables.size());
  v.name = "this";
  v.scope = Variable::Scope::parameter;
  Type& pointer = program_.types.emplace_back();
  pointer.shape = Shape::pointer;
  pointer.inner = type_of(clang_getCursorType(owner));
  v.type = &pointer;
  return &v;
}

namespace {

bool names_noreturn(std::string_view text) {
  return text.find("oreturn") != std::string_view::npos;
}

// The word that an attribute begins with, as the file has it.
std::string_view word_at(CXCursor attribute) {
  CXFile file = nullptr;
  unsigned offset = 0;
  clang_getSpellingLocation(clang_getCursorLocation(attribute), &file, nullptr, nullptr, &offset);
  size_t size = 0;
  const char* text =
      file ? clang_getFileContents(clang_Cursor_getTranslationUnit(attribute), file, &size) : nullptr;
  if (!text || offset >= size) return {};
  const std::string_view rest(text + offset, size - offset);
  return rest.substr(0, rest.find_first_of("]();, \n"));
}

}  // namespace

// The C API has no kind for [[noreturn]] and _Noreturn. It prints those of a function, out of macros too, not
// those of a template's; the older spelling is part of the type.
bool is_declared_to_never_return(CXCursor function) {
  for (const CXCursor& kid : children_of(function)) {
    if (kid.kind != CXCursor_UnexposedAttr) continue;
    if (names_noreturn(word_at(kid))) return true;
    CXPrintingPolicy policy = clang_getCursorPrintingPolicy(function);
    clang_PrintingPolicy_setProperty(policy, CXPrintingPolicy_TerseOutput, 1);
    const bool says = names_noreturn(take(clang_getCursorPrettyPrinted(function, policy)));
    clang_PrintingPolicy_dispose(policy);
    if (says) return true;
  }
  return names_noreturn(take(clang_getTypeSpelling(clang_getCursorType(function))));
}

void Lowering::Impl::read_attributes(CXCursor cursor, Function& function) {
  bool host = false, device = false;
  for (const CXCursor& kid : children_of(cursor)) {
    switch (kid.kind) {
      case CXCursor_CUDAGlobalAttr:
        function.kernel = true;
        break;
      case CXCursor_CUDADeviceAttr:
        device = true;
        break;
      case CXCursor_CUDAHostAttr:
        host = true;
        break;
      case CXCursor_AnnotateAttr:
        if (spelling_of(kid) == "capgate::region") function.region = true;
        break;
      case CXCursor_CompoundStmt:
      case CXCursor_CXXTryStmt:
        function.has_body = true;
        break;
      default:
        break;
    }
  }
  function.device_only = function.kernel || (device && !host);
}

Function* Lowering::Impl::function_of(CXCursor reference) {
  if (const auto it = functions_.find(reference.data[0]); it != functions_.end()) return it->second;
  CXCursor cursor = clang_getCursorDefinition(reference);
  if (clang_Cursor_isNull(cursor)) cursor = clang_getCanonicalCursor(reference);
  if (const auto it = functions_.find(cursor.data[0]); it != functions_.end())
    return functions_[reference.data[0]] = it->second;
  Function& f = program_.functions.emplace_back();
  functions_[cursor.data[0]] = &f;
  functions_[reference.data[0]] = &f;
  cursors_[&f] = cursor;
  f.id = static_cast<uint32_t>(program_.functions.size());
  f.name = qualified(cursor);
  f.spelled = spelling_of(cursor);
  f.is_lambda = clang_getCursorSemanticParent(cursor).kind == CXCursor_ClassDecl &&
                spelling_of(clang_getCursorSemanticParent(cursor)).starts_with("(lambda");
  place(f, cursor);
  f.user = (unit_.is_user(cursor) && !is_inside_a_tensor(f.name)) || f.name.starts_with("capgate::");
  f.foreign = !f.user && !is_of_a_known_library(f.name) && !is_of_the_system(f.place.file);
  f.result = type_of(clang_getCursorResultType(cursor));
  f.is_constructor = cursor.kind == CXCursor_Constructor;
  f.is_destructor = cursor.kind == CXCursor_Destructor;
  f.is_conversion = cursor.kind == CXCursor_ConversionFunction;
  f.is_static = clang_CXXMethod_isStatic(cursor) != 0;
  f.is_const = clang_CXXMethod_isConst(cursor) != 0;
  const CXCursor parent = clang_getCursorSemanticParent(cursor);
  f.is_method =
      (cursor.kind == CXCursor_CXXMethod || f.is_constructor || f.is_destructor || f.is_conversion ||
       parent.kind == CXCursor_ClassDecl || parent.kind == CXCursor_StructDecl) &&
      !f.is_static;
  if (f.is_method || f.is_static) f.record = record_of(parent);
  read_attributes(cursor, f);
  if (clang_CXXMethod_isDefaulted(cursor)) {
    // Its synthesized body shows nothing of what it copies.
    f.is_defaulted = true;
    f.has_body = false;
  }
  const bool gives_nothing = clang_getCursorResultType(cursor).kind == CXType_Void;
  if (!f.has_body && !f.is_defaulted && gives_nothing) f.never_returns = is_declared_to_never_return(cursor);
  const int n = clang_Cursor_getNumArguments(cursor);
  for (int i = 0; i < n; ++i) f.params.push_back(variable_of(clang_Cursor_getArgument(cursor, i)));
  if (n < 0 || (n == 0 && f.has_body)) {
    f.params.clear();
    for (const CXCursor& kid : children_of(cursor))
      if (kid.kind == CXCursor_ParmDecl) f.params.push_back(variable_of(kid));
  }
  f.param_defaults.resize(f.params.size());
  if (f.user)
    read_defaults(f, reference);
  else
    undefaulted_.emplace(&f, reference);
  if (f.is_method && f.user) f.self = self_of(cursor);
  if (f.user) {
    f.usr = take(clang_getCursorUSR(cursor));
    const CXLinkageKind linkage = clang_getCursorLinkage(cursor);
    f.internal = linkage != CXLinkage_External;
    unsigned last = 0;
    clang_getExpansionLocation(clang_getRangeEnd(clang_getCursorExtent(cursor)), nullptr, &last, nullptr,
                               nullptr);
    f.end_line = static_cast<int>(last);
    if (!f.device_only) read_trouble(cursor, f);
  }
  return &f;
}

// A default argument stands at one declaration only, often not at the definition.
void Lowering::Impl::read_defaults(Function& f, CXCursor reference) {
  const int n = static_cast<int>(f.params.size());
  for (const CXCursor& declaration : {reference, clang_getCanonicalCursor(reference), cursors_[&f]}) {
    if (clang_Cursor_getNumArguments(declaration) < n) continue;
    for (int i = 0; i < n; ++i) {
      if (f.param_defaults[static_cast<size_t>(i)]) continue;
      const CXCursor param = clang_Cursor_getArgument(declaration, static_cast<unsigned>(i));
      if (clang_Cursor_isNull(param)) continue;
      for (const CXCursor& kid : children_of(param)) {
        if (!clang_isExpression(kid.kind)) continue;
        Scope outside;
        Scope* const before = scope_;
        scope_ = &outside;
        f.param_defaults[static_cast<size_t>(i)] = expr(kid);
        scope_ = before;
      }
    }
  }
}

// Of a library's function only where a call leaves one out.
Node* Lowering::Impl::default_of(Function& function, size_t position) {
  if (const auto it = undefaulted_.find(&function); it != undefaulted_.end()) {
    const CXCursor reference = it->second;
    undefaulted_.erase(it);
    read_defaults(function, reference);
  }
  return position < function.param_defaults.size() ? function.param_defaults[position] : nullptr;
}

void Lowering::Impl::read_trouble(CXCursor cursor, Function& function) {
  for (const ParseTrouble* trouble : unit_.trouble_in(cursor)) {
    if (function.trouble_at.empty()) {
      function.trouble = trouble->message;
      function.trouble_line = static_cast<int>(trouble->line);
    }
    function.trouble_at.push_back(trouble->offset);
  }
}

Function* Lowering::Impl::lambda_of(CXCursor expression) {
  const auto [it, fresh] = functions_.try_emplace(expression.data[1]);
  if (!fresh) return it->second;
  Function& f = program_.functions.emplace_back();
  it->second = &f;
  cursors_[&f] = expression;
  f.id = static_cast<uint32_t>(program_.functions.size());
  f.name = scope_ && scope_->function ? scope_->function->name + "::lambda" : "lambda";
  f.spelled = "operator()";
  place(f, expression);
  f.user = true;
  f.is_lambda = true;
  f.internal = true;
  f.result = type_of(clang_getCursorResultType(expression));
  read_attributes(expression, f);
  if (!f.device_only) read_trouble(expression, f);
  for (const CXCursor& kid : children_of(expression))
    if (kid.kind == CXCursor_ParmDecl) f.params.push_back(variable_of(kid));
  f.param_defaults.resize(f.params.size());
  f.self = scope_ && scope_->function ? scope_->function->self : nullptr;
  return &f;
}

void Lowering::Impl::lower_constructor(const Cursors& kids, Function& function) {
  for (size_t i = 0; i < kids.size(); ++i) {
    const CXCursorKind kind = kids[i].kind;
    if (kind == CXCursor_MemberRef && i + 1 < kids.size() && clang_isExpression(kids[i + 1].kind)) {
      function.member_inits.emplace_back(program_.intern(spelling_of(kids[i])), expr(kids[i + 1]));
      ++i;
    } else if (kind == CXCursor_CallExpr) {  // a base, or the constructor this one delegates to
      function.member_inits.emplace_back(0, expr(kids[i]));
    }
  }
}

void Lowering::Impl::lower(Function& function) {
  if (function.lowered) return;
  function.lowered = true;
  if (!function.has_body) return;
  Scope scope;
  scope.function = &function;
  Scope* const before = scope_;
  scope_ = &scope;
  for (Variable* v : function.params) scope.declared.insert(v);
  const Cursors kids = children_of(cursors_[&function]);
  if (function.is_constructor) lower_constructor(kids, function);
  for (const CXCursor& kid : kids)
    if (kid.kind == CXCursor_CompoundStmt || kid.kind == CXCursor_CXXTryStmt) function.body = stmt(kid);
  for (Variable* v : scope.named) {
    if (v->scope == Variable::Scope::global || v->scope == Variable::Scope::static_local)
      function.globals.push_back(v);
    else if (v == function.self ? function.is_lambda : !scope.declared.contains(v))
      function.captures.push_back(v);
  }
  const auto by_id = [](const auto* a, const auto* b) { return a->id < b->id; };
  std::sort(function.globals.begin(), function.globals.end(), by_id);
  std::sort(function.captures.begin(), function.captures.end(), by_id);
  function.callees.assign(scope.called.begin(), scope.called.end());
  std::sort(function.callees.begin(), function.callees.end(), by_id);
  scope_ = before;
}

// Notes `overrider` at every method that `method` overrides, all the way up.
void Lowering::Impl::overrides(CXCursor method, Function* overrider, int depth) {
  CXCursor* overridden = nullptr;
  unsigned n = 0;
  clang_getOverriddenCursors(method, &overridden, &n);
  for (unsigned i = 0; i < n; ++i) {
    Function* base = function_of(overridden[i]);
    if (base->user) {
      base->overriders.push_back(overrider);
      if (base->overriders.size() == 1) program_.overridden.push_back(base);
    }
    if (depth < 8) overrides(overridden[i], overrider, depth + 1);
  }
  if (overridden) clang_disposeOverriddenCursors(overridden);
}

void Lowering::Impl::collect() {
  struct Visit {
    Impl* self;
    std::unordered_set<Function*> seen;
  } visit{this, {}};
  clang_visitChildren(
      clang_getTranslationUnitCursor(unit_.tu),
      [](CXCursor c, CXCursor, CXClientData data) {
        auto* v = static_cast<Visit*>(data);
        switch (c.kind) {
          case CXCursor_Namespace:
          case CXCursor_ClassDecl:
          case CXCursor_StructDecl:
          case CXCursor_ClassTemplate:
          case CXCursor_ClassTemplatePartialSpecialization:
          case CXCursor_LinkageSpec:
          case CXCursor_UnexposedDecl:
            return v->self->unit_.is_user(c) || c.kind == CXCursor_LinkageSpec ? CXChildVisit_Recurse
                                                                               : CXChildVisit_Continue;
          case CXCursor_FunctionDecl:
          case CXCursor_FunctionTemplate:
          case CXCursor_CXXMethod:
          case CXCursor_Constructor:
          case CXCursor_Destructor:
          case CXCursor_ConversionFunction:
            break;
          default:
            return CXChildVisit_Continue;
        }
        if (!clang_isCursorDefinition(c) || !v->self->unit_.is_user(c)) return CXChildVisit_Continue;
        if (c.kind == CXCursor_FunctionTemplate || Impl::is_in_a_template(c)) {
          v->self->note_pattern(c);
          return CXChildVisit_Continue;
        }
        Function* f = v->self->function_of(c);
        if (f->has_body && !f->device_only && v->seen.insert(f).second) {
          v->self->program_.user_functions.push_back(f);
          if (clang_CXXMethod_isVirtual(c) && !f->is_destructor) v->self->overrides(c, f, 0);
        }
        return CXChildVisit_Continue;
      },
      &visit);
}

std::string_view Lowering::Impl::text_of(uint32_t id) const {
  for (const auto& [file, known] : files_)
    if (known == id) {
      size_t size = 0;
      const char* text = clang_getFileContents(unit_.tu, file, &size);
      return text ? std::string_view(text, size) : std::string_view();
    }
  return {};
}

Lowering::Lowering(const Unit& unit, Program& program) : impl_(std::make_unique<Impl>(unit, program)) {
  // libclang searches long for a file's text: only for those of which something is shown.
  program.text_of = [this](uint32_t file) { return impl_->text_of(file); };
}
Lowering::~Lowering() = default;
void Lowering::collect() {
  impl_->collect();
}
void Lowering::lower(Function& function) {
  impl_->lower(function);
}
const Node* Lowering::initial_of(const Variable& variable) {
  return impl_->initial_of(variable);
}

void Lowering::complete(Record& record) {
  impl_->complete(record);
}

}  // namespace capgate::lint
