// The unit's own functions, those that clang made of templates among them, and the templates in which a
// capture may stand of which nothing was made here.
#include <clang/AST/DeclFriend.h>

#include <algorithm>
#include <cctype>

#include "static_checks/lowering/impl.h"

namespace capgate::lint {

namespace {

// Words without which no code begins a region, in whatever case they are written.
bool may_begin_a_region(std::string_view code) {
  static constexpr std::string_view kWords[] = {"captur", "graph", "region", "record"};
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) {
    return std::search(code.begin(), code.end(), word.begin(), word.end(), same) != code.end();
  });
}

}  // namespace

void Lowering::Impl::collect() {
  collect_in(context_.getTranslationUnitDecl());
  drop_overriders_of_no_object();
}

void Lowering::Impl::collect_in(const clang::DeclContext* context) {
  if (const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(context)) note_made(record);
  for (const clang::Decl* d : context->decls()) {
    if (const auto* friendly = llvm::dyn_cast<clang::FriendDecl>(d)) d = friendly->getFriendDecl();
    if (const auto* record = llvm::dyn_cast_or_null<clang::CXXRecordDecl>(d);
        record && record->isLambda() && tree_.is_user(d))
      collect_in_lambda(record);
    if (d && !d->isImplicit() && tree_.is_user(d)) collect_one(d);
  }
}

void Lowering::Impl::collect_one(const clang::Decl* d) {
  if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(d)) {
    collect_function(function);
  } else if (const auto* of_function = llvm::dyn_cast<clang::FunctionTemplateDecl>(d)) {
    collect_function(of_function->getTemplatedDecl());
    for (const clang::FunctionDecl* made : of_function->specializations())
      if (const clang::FunctionDecl* definition = made->getDefinition()) collect_function(definition);
  } else if (const auto* of_class = llvm::dyn_cast<clang::ClassTemplateDecl>(d)) {
    collect_in(of_class->getTemplatedDecl());
    if (of_class == of_class->getCanonicalDecl())
      for (const clang::ClassTemplateSpecializationDecl* made : of_class->specializations())
        if (!made->isExplicitSpecialization())  // that one is written, and found where it stands
          if (const clang::CXXRecordDecl* definition = made->getDefinition()) collect_in(definition);
  } else if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl, clang::ExportDecl, clang::CXXRecordDecl>(
                 d)) {
    // An explicit instantiation is named in its namespace and was met at its template.
    const auto* made = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(d);
    if (!made || made->isExplicitSpecialization() ||
        llvm::isa<clang::ClassTemplatePartialSpecializationDecl>(made))
      collect_in(llvm::cast<clang::DeclContext>(d));
  }
}

void Lowering::Impl::collect_function(const clang::FunctionDecl* d) {
  if (!d->isThisDeclarationADefinition()) return;
  if (d->isDependentContext()) {
    note_pattern(d);
    return;
  }
  Function* f = function_of(d);
  if (!f->has_body || f->device_only || !f->user || !collected_.insert(f).second) return;
  program_.user_functions.push_back(f);
  collect_local_classes(d);
  if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(d);
      method && method->isVirtual() && !f->is_destructor)
    note_overrider(method, f, 0);
}

// Those that stand in a function's body, or in that of a lambda there.
void Lowering::Impl::collect_local_classes(const clang::DeclContext* context) {
  for (const clang::Decl* d : context->decls()) {
    const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(d);
    if (!record || !record->isThisDeclarationADefinition()) continue;
    if (record->isLambda())
      collect_in_lambda(record);
    else
      collect_in(record);
  }
}

void Lowering::Impl::collect_in_lambda(const clang::CXXRecordDecl* closure) {
  if (const clang::FunctionTemplateDecl* generic = closure->getDependentLambdaCallOperator())
    for (const clang::FunctionDecl* made : generic->specializations()) collect_local_classes(made);
  else if (const clang::CXXMethodDecl* operation = closure->getLambdaCallOperator())
    collect_local_classes(operation);
}

// There may be objects of it, and thus of its bases.
void Lowering::Impl::note_made(const clang::CXXRecordDecl* given) {
  if (given->isDependentContext() || !given->hasDefinition() || given->isAbstract()) return;
  std::vector<const clang::CXXRecordDecl*> open{given};
  while (!open.empty()) {
    const clang::CXXRecordDecl* one = open.back()->getDefinition();
    open.pop_back();
    if (!one || !made_.insert(one->getCanonicalDecl()).second) continue;
    for (const clang::CXXBaseSpecifier& base : one->bases())
      if (const clang::CXXRecordDecl* record = base.getType()->getAsCXXRecordDecl()) open.push_back(record);
  }
}

// A method of an abstract class runs on objects of the classes derived from it. Where there are none, no
// virtual call comes to it; who derives one in another unit sees the method there.
void Lowering::Impl::drop_overriders_of_no_object() {
  const auto on_no_object = [&](const Function* overrider) {
    const auto* method = llvm::cast<clang::CXXMethodDecl>(declarations_[overrider]);
    return !made_.contains(method->getParent()->getCanonicalDecl());
  };
  for (Function* base : program_.overridden) std::erase_if(base->overriders, on_no_object);
  std::erase_if(program_.overridden, [](const Function* base) { return base->overriders.empty(); });
}

// At every method that `method` overrides, all the way up.
void Lowering::Impl::note_overrider(const clang::CXXMethodDecl* method, Function* overrider, int depth) {
  for (const clang::CXXMethodDecl* overridden : method->overridden_methods()) {
    Function* base = function_of(overridden);
    if (base->user) {
      base->overriders.push_back(overrider);
      if (base->overriders.size() == 1) program_.overridden.push_back(base);
    }
    if (depth < 8) note_overrider(overridden, overrider, depth + 1);
  }
}

void Lowering::Impl::note_pattern(const clang::FunctionDecl* d) {
  const Spot first = tree_.spot(d->getSourceRange().getBegin()),
             last = tree_.spot(d->getSourceRange().getEnd());
  const std::string_view text = tree_.text_of(first.id);
  if (first.id != last.id || first.offset >= last.offset || last.offset > text.size() ||
      !may_begin_a_region(text.substr(first.offset, last.offset - first.offset)))
    return;
  Function* f = function_of(d);
  if (f->has_body && !f->device_only && f->user && collected_.insert(f).second)
    program_.patterns.push_back(f);
}

Lowering::Lowering(const Unit& unit, Program& program) : impl_(std::make_unique<Impl>(unit, program)) {
  // Only the files of which something is shown are asked for.
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
std::vector<Function*> Lowering::instances_of(const Function& pattern) {
  return impl_->instances_of(pattern);
}
void Lowering::complete(Record& record) {
  impl_->complete(record);
}

}  // namespace capgate::lint
