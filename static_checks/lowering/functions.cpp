// Functions: what is known of them before their body is asked for, and then the body.
#include "static_checks/frontend/functions.h"

#include <clang/AST/Attr.h>
#include <clang/Index/USRGeneration.h>

#include <algorithm>

#include "static_checks/frontend/system_files.h"
#include "static_checks/lowering/impl.h"

namespace capgate::lint {

Function* Lowering::Impl::function_of(const clang::FunctionDecl* given) {
  if (const auto it = functions_.find(given); it != functions_.end()) return it->second;
  const clang::FunctionDecl* definition = given->getDefinition();
  const clang::FunctionDecl* d = definition ? definition : given->getCanonicalDecl();
  if (const auto it = functions_.find(d); it != functions_.end()) return functions_[given] = it->second;
  Function& f = program_.functions.emplace_back();
  functions_[d] = functions_[given] = &f;
  declarations_[&f] = d;
  f.id = static_cast<uint32_t>(program_.functions.size());
  f.name = qualified(d);
  f.spelled = without_arguments(d->getNameAsString());
  const Spot spot = tree_.spot(d->getLocation());
  f.file = file_id(spot);
  f.offset = spot.offset;
  f.place = place_of(d->getLocation());
  f.user = (tree_.is_user(d) && !is_inside_a_tensor(f.name)) || f.name.starts_with("capgate::");
  f.foreign = !f.user && !is_of_a_known_library(f.name) &&
              (is_of_no_model(f.name) || !is_of_the_system(f.place.file));
  f.result = type_of(d->getReturnType());
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(d);
  f.is_constructor = llvm::isa<clang::CXXConstructorDecl>(d);
  f.is_destructor = llvm::isa<clang::CXXDestructorDecl>(d);
  f.is_conversion = llvm::isa<clang::CXXConversionDecl>(d);
  f.is_static = method && method->isStatic();
  f.is_const = method && method->isConst();
  f.is_method = method && !f.is_static;
  f.is_virtual = method && method->isVirtual();
  f.is_lambda = method && method->getParent()->isLambda();
  f.is_pattern = d->isDependentContext();
  if (method) f.record = record_of(method->getParent());
  read_attributes(d, f);
  read_parameters(d, f);
  if (f.is_method && (f.user || f.foreign)) f.self = self_of(method);
  if (f.user) read_users(d, f);
  return &f;
}

void Lowering::Impl::read_attributes(const clang::FunctionDecl* d, Function& function) {
  function.device_only = is_device_only(d);
  for (const clang::Attr* attribute : d->attrs()) {
    if (llvm::isa<clang::CUDAGlobalAttr>(attribute)) function.kernel = true;
    if (const auto* note = llvm::dyn_cast<clang::AnnotateAttr>(attribute))
      function.region = function.region || note->getAnnotation() == "capgate::region";
  }
  function.device_only = function.device_only || function.kernel;
  // The body that clang makes for a defaulted one shows nothing of what it copies.
  function.is_defaulted = d->isDefaulted();
  function.has_body = !function.is_defaulted && d->getBody() != nullptr;
  function.never_returns = !function.has_body && d->isNoReturn();
}

void Lowering::Impl::read_parameters(const clang::FunctionDecl* d, Function& function) {
  for (const clang::ParmVarDecl* parameter : d->parameters())
    function.params.push_back(variable_of(parameter));
  function.param_defaults.resize(function.params.size());
  if (!function.user) return;  // of a library's function only where a call leaves one out
  for (size_t i = 0; i < function.params.size(); ++i) (void)default_of(function, i);
}

Node* Lowering::Impl::lower_default(const clang::ParmVarDecl* parameter) {
  if (!parameter->hasDefaultArg() || parameter->hasUnparsedDefaultArg() ||
      parameter->hasUninstantiatedDefaultArg())
    return nullptr;
  Scope outside;
  Scope* const before = scope_;
  scope_ = &outside;
  Node* made = expr(parameter->getDefaultArg());
  scope_ = before;
  return made;
}

Node* Lowering::Impl::default_of(Function& function, size_t position) {
  if (position >= function.param_defaults.size()) return nullptr;
  Node*& known = function.param_defaults[position];
  const clang::FunctionDecl* d = declarations_[&function];
  // A template's stands at its pattern until a call wants it.
  if (!known) known = lower_default(d->getParamDecl(static_cast<unsigned>(position)));
  return known;
}

// What only the user's own functions are asked for.
void Lowering::Impl::read_users(const clang::FunctionDecl* d, Function& function) {
  llvm::SmallString<128> usr;
  if (!clang::index::generateUSRForDecl(d, usr)) function.usr = usr.str().str();
  function.internal = function.is_lambda || !clang::isExternallyVisible(d->getLinkageInternal());
  function.end_line = tree_.line_of(tree_.spot(d->getSourceRange().getEnd()));
  // Whoever else uses a template of a header has his own of it.
  function.is_instance = d->getTemplateSpecializationKind() == clang::TSK_ImplicitInstantiation &&
                         function.place.file != unit_.main_file;
  if (function.device_only) return;
  for (const ParseTrouble* trouble : tree_.trouble_in(d->getSourceRange())) {
    if (function.trouble_at.empty()) {
      function.trouble = trouble->message;
      function.trouble_line = static_cast<int>(trouble->line);
    }
    function.trouble_at.push_back(trouble->offset);
  }
}

// In a lambda `this` is the enclosing method's; a lambda of a free function has none.
Variable* Lowering::Impl::self_of(const clang::CXXMethodDecl* method) {
  const clang::CXXRecordDecl* owner = method->getParent();
  if (owner->isLambda()) {
    const auto* outer = llvm::dyn_cast<clang::CXXMethodDecl>(owner->getDeclContext());
    return outer && !outer->isStatic() ? function_of(outer)->self : nullptr;
  }
  Variable& v = program_.variables.emplace_back();
  v.id = static_cast<uint32_t>(program_.variables.size());
  v.name = "this";
  v.scope = Variable::Scope::parameter;
  Type& pointer = program_.types.emplace_back();
  pointer.shape = Shape::pointer;
  pointer.inner = type_of(context_.getRecordType(owner));
  v.type = &pointer;
  return &v;
}

void Lowering::Impl::lower_constructor(const clang::CXXConstructorDecl* d, Function& function) {
  std::vector<const clang::CXXCtorInitializer*> written;
  for (const clang::CXXCtorInitializer* init : d->inits())
    if (init->isWritten()) written.push_back(init);
  std::sort(written.begin(), written.end(),
            [](const auto* a, const auto* b) { return a->getSourceOrder() < b->getSourceOrder(); });
  for (const clang::CXXCtorInitializer* init : written) {
    const clang::FieldDecl* field = init->getAnyMember();
    const uint32_t name = field ? program_.intern(field->getNameAsString()) : 0;  // 0: a base, or delegation
    function.member_inits.emplace_back(name, expr(init->getInit()));
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
  const clang::FunctionDecl* d = declarations_[&function];
  if (const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(d))
    lower_constructor(constructor, function);
  function.body = stmt(d->getBody());
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

}  // namespace capgate::lint
