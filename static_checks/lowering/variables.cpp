// Variables, parameters and structured bindings.
#include <clang/AST/Attr.h>

#include "static_checks/lowering/impl.h"

namespace capgate::lint {

Variable* Lowering::Impl::variable_of(const clang::ValueDecl* given) {
  const auto* d = llvm::cast<clang::ValueDecl>(given->getCanonicalDecl());
  const auto [it, fresh] = variables_.try_emplace(d);
  if (!fresh) return it->second;
  Variable& v = program_.variables.emplace_back();
  it->second = &v;
  v.id = static_cast<uint32_t>(program_.variables.size());
  v.name = d->getNameAsString();
  v.type = type_of(given->getType());
  v.place = place_of(d->getLocation());
  if (llvm::isa<clang::ParmVarDecl>(d))
    v.scope = Variable::Scope::parameter;
  else if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(d))
    place_variable(variable, v);
  return &v;
}

void Lowering::Impl::place_variable(const clang::VarDecl* d, Variable& v) {
  const bool in_function = d->getParentFunctionOrMethod() != nullptr;
  if (!in_function || d->hasExternalStorage())
    v.scope = Variable::Scope::global;
  else if (d->hasGlobalStorage())
    v.scope = Variable::Scope::static_local;
  else
    return;
  lasting_[&v] = d;
  for (const clang::Attr* attribute : d->attrs())
    v.on_device = v.on_device || llvm::isa<clang::CUDADeviceAttr, clang::CUDAConstantAttr>(attribute);
  v.managed = !in_function && !v.on_device && says_managed(d);
  if (v.managed) program_.managed.push_back(&v);
}

const Node* Lowering::Impl::initial_of(const Variable& variable) {
  const auto [it, fresh] = initials_.try_emplace(&variable, nullptr);
  const auto known = lasting_.find(&variable);
  if (!fresh || known == lasting_.end()) return it->second;
  const clang::Expr* initial = known->second->getAnyInitializer();
  if (!initial) return nullptr;
  Scope outside;
  Scope* const before = scope_;
  scope_ = &outside;
  const Node* made = expr(initial);
  scope_ = before;
  return initials_[&variable] = made;
}

// clang ignores __managed__ in CUDA: the words in front of the declaration say so.
bool Lowering::Impl::says_managed(const clang::VarDecl* d) const {
  if (!tree_.is_user(d)) return false;
  const Spot name = tree_.spot(d->getLocation());
  const std::string_view before = tree_.text_of(name.id).substr(0, name.offset);
  const size_t line = before.rfind('\n');
  return before.substr(line == std::string_view::npos ? 0 : line).find("__managed__") !=
         std::string_view::npos;
}

}  // namespace capgate::lint
