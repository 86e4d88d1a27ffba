// Types, and what classes are made of.
#include "static_checks/lowering/impl.h"

namespace capgate::lint {

const Type* Lowering::Impl::type_of(clang::QualType given) {
  if (const auto found = types_.find(given.getAsOpaquePtr()); found != types_.end()) return found->second;
  // What stands in parentheses in a template's pattern has no type at all.
  const clang::QualType type = given.isNull() ? given : given.getCanonicalType();
  if (const auto same = types_.find(type.getAsOpaquePtr()); same != types_.end())
    return types_[given.getAsOpaquePtr()] = same->second;
  Type& made = program_.types.emplace_back();
  types_[given.getAsOpaquePtr()] = &made;
  types_[type.getAsOpaquePtr()] = &made;
  if (type.isNull()) return &made;
  made.is_const = type.isConstQualified();
  shape(made, type);
  const bool sized =
      made.shape != Shape::other && made.shape != Shape::reference && made.shape != Shape::array;
  if (sized && !type->isDependentType() && !type->isIncompleteType() && !type->isUndeducedType())
    made.size = context_.getTypeSizeInChars(type).getQuantity();
  return &made;
}

void Lowering::Impl::shape(Type& made, clang::QualType type) {
  const clang::Type* t = type.getTypePtr();
  const auto spelled = [&] { return type.getAsString(clang::PrintingPolicy(context_.getLangOpts())); };
  if (t->isBooleanType() && !t->isEnumeralType()) {
    made.shape = Shape::boolean;
  } else if (t->isPointerType() || t->isNullPtrType() || t->isMemberPointerType()) {
    made.shape = Shape::pointer;
    if (t->isPointerType()) made.inner = type_of(t->getPointeeType());
  } else if (const auto* reference = llvm::dyn_cast<clang::ReferenceType>(t)) {
    made.shape = Shape::reference;
    made.inner = type_of(reference->getPointeeType());
  } else if (const clang::ArrayType* array = context_.getAsArrayType(type)) {
    made.shape = Shape::array;
    made.inner = type_of(array->getElementType());
  } else if (t->isEnumeralType()) {
    made.shape = Shape::enumeration;
    made.spelling = spelled();
    made.status = ends_with_status_word(made.spelling);
  } else if (const auto* record = llvm::dyn_cast<clang::RecordType>(t)) {
    made.shape = Shape::record;
    made.spelling = spelled();
    made.record = record_of(record->getDecl());
  } else if (t->isFunctionType()) {
    made.spelling = spelled();
  } else if (const auto* builtin = llvm::dyn_cast<clang::BuiltinType>(t); builtin && !builtin->isVoidType() &&
                                                                          !builtin->isPlaceholderType() &&
                                                                          !builtin->isDependentType()) {
    made.shape = Shape::scalar;
  }
}

Record* Lowering::Impl::record_of(const clang::RecordDecl* given) {
  const clang::RecordDecl* definition = given->getDefinition();
  const clang::RecordDecl* declaration =
      definition ? definition : llvm::cast<clang::RecordDecl>(given->getCanonicalDecl());
  const auto [it, fresh] = records_.try_emplace(declaration);
  if (!fresh) return it->second;
  Record& record = program_.records.emplace_back();
  it->second = &record;
  record.name = qualified(declaration);
  // capgate.h is looked into wherever it is installed: its scopes begin and end regions.
  record.user = (tree_.is_user(declaration) && !is_inside_a_tensor(record.name)) ||
                record.name.starts_with("capgate::");
  record.is_union = declaration->isUnion();
  definitions_[&record] = declaration;
  const auto* made = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(declaration);
  if (made && (record.name == "std::unique_ptr" || record.name == "std::shared_ptr" ||
               record.name == "std::optional")) {
    const clang::TemplateArgument& held = made->getTemplateArgs()[0];
    if (held.getKind() == clang::TemplateArgument::Type && held.getAsType()->isRecordType())
      record.held = type_of(held.getAsType())->record;
  }
  if (made && record.name.starts_with("nvtx3::") && record.name.ends_with("_range_in"))
    record.range_domain = domain_of(made->getTemplateArgs()[0]);
  return &record;
}

// `struct engine { static constexpr char const* name{"engine"}; };`; "?" where the name is no literal.
std::string Lowering::Impl::domain_of(const clang::TemplateArgument& given) {
  const clang::CXXRecordDecl* domain =
      given.getKind() == clang::TemplateArgument::Type ? given.getAsType()->getAsCXXRecordDecl() : nullptr;
  if (domain && qualified(domain) == "nvtx3::domain::global") return {};
  if (domain && domain->hasDefinition())
    for (const clang::Decl* member : domain->getDefinition()->decls()) {
      const auto* name = llvm::dyn_cast<clang::VarDecl>(member);
      if (!name || name->getNameAsString() != "name" || !name->getInit()) continue;
      const clang::Expr* initial = name->getInit()->IgnoreImplicit();
      if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(initial); list && list->getNumInits() == 1)
        initial = list->getInit(0)->IgnoreImplicit();
      if (const auto* literal = llvm::dyn_cast<clang::StringLiteral>(initial);
          literal && literal->getCharByteWidth() == 1)
        return literal->getString().str();
    }
  return "?";
}

void Lowering::Impl::complete(Record& record) {
  if (record.fields_known) return;
  record.fields_known = true;
  const clang::RecordDecl* definition = definitions_[&record];
  if (!definition->isCompleteDefinition()) return;
  for (const clang::FieldDecl* field : definition->fields()) {
    Field made;
    made.name = program_.intern(field->getNameAsString());
    made.type = type_of(field->getType());
    record.fields.push_back(made);
  }
  const auto* of_class = llvm::dyn_cast<clang::CXXRecordDecl>(definition);
  if (of_class) {
    const clang::DeclarationName allocator = context_.DeclarationNames.getCXXOperatorName(clang::OO_New);
    record.allocates_itself = !of_class->lookup(allocator).empty();
  }
  if (of_class && record.user)
    complete_members(record, of_class);
  else  // never looked into
    find_contents(record, definition);
}

// The user's classes whose objects die with a container of the standard library; of a unique_ptr its deleter.
void Lowering::Impl::find_contents(Record& record, const clang::RecordDecl* definition) {
  const auto* made = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(definition);
  const bool owns = made && record.name.starts_with("std::") &&
                    (!record.held || record.name == "std::unique_ptr") &&
                    !record.name.ends_with("function") && !record.name.ends_with("allocator") &&
                    record.name.find("iterator") == std::string::npos;
  if (!owns) return;
  for (const clang::TemplateArgument& argument : made->getTemplateArgs().asArray()) {
    if (argument.getKind() != clang::TemplateArgument::Type || !argument.getAsType()->isRecordType())
      continue;
    Record* content = type_of(argument.getAsType())->record;
    if (content && content != &record && content != record.held && content->user)
      record.contents.push_back(content);
  }
}

void Lowering::Impl::complete_members(Record& record, const clang::CXXRecordDecl* definition) {
  for (const clang::CXXBaseSpecifier& base : definition->bases())
    if (const Type* type = type_of(base.getType()); type->record) record.bases.push_back(type->record);
  const clang::CXXDestructorDecl* destructor = definition->getDestructor();
  if (destructor && !destructor->isImplicit()) {
    Function* f = function_of(destructor);
    if (f->has_body) record.destructor = f;
    // Of a template's destructor there is no body where nothing here destroys such an object.
    const bool unused = destructor->getTemplateSpecializationKind() == clang::TSK_ImplicitInstantiation;
    if (!f->has_body && !f->is_defaulted && f->user && !unused) record.destructor_elsewhere = f;
  }
  for (const clang::CXXConstructorDecl* constructor : definition->ctors())
    if (!constructor->isImplicit() && constructor->getNumParams() == 0)
      record.default_constructor = function_of(constructor);
  size_t position = 0;
  for (const clang::FieldDecl* field : definition->fields()) {
    Field& made = record.fields[position++];
    const clang::Expr* initial = field->getInClassInitializer();
    if (!initial) continue;
    Scope outside;
    Scope* const before = scope_;
    if (!scope_) scope_ = &outside;
    made.initial = expr(initial);
    scope_ = before;
  }
}

}  // namespace capgate::lint
