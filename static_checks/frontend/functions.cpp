#include "static_checks/frontend/functions.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclFriend.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>

#include <functional>

namespace capgate::lint {
namespace {

using Visit = std::function<void(const clang::DeclaratorDecl* declaration, clang::SourceRange range)>;

// Functions and variables of the user as they are written: a template once, and none of what was made of it.
void each_written(const Tree& tree, const clang::DeclContext* context, const Visit& visit) {
  for (const clang::Decl* given : context->decls()) {
    const clang::Decl* d = given;
    const clang::SourceRange range = d->getSourceRange();
    if (const auto* friendly = llvm::dyn_cast<clang::FriendDecl>(d)) d = friendly->getFriendDecl();
    if (!d || d->isImplicit() || !tree.is_user(d)) continue;
    if (const auto* of_class = llvm::dyn_cast<clang::ClassTemplateDecl>(d)) d = of_class->getTemplatedDecl();
    if (const auto* of_function = llvm::dyn_cast<clang::FunctionTemplateDecl>(d))
      d = of_function->getTemplatedDecl();
    if (llvm::isa<clang::FunctionDecl, clang::VarDecl>(d))
      visit(llvm::cast<clang::DeclaratorDecl>(d), range);
    else if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl, clang::ExportDecl, clang::RecordDecl>(d))
      each_written(tree, llvm::cast<clang::DeclContext>(d), visit);
  }
}

const clang::LambdaExpr* innermost_lambda(const Tree& tree, const clang::Stmt* s, const Spot& place) {
  if (!s) return nullptr;
  const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(s);
  if (lambda) {
    const Spot first = tree.spot(lambda->getBeginLoc()), last = tree.spot(lambda->getEndLoc());
    if (first.file != place.file || place.offset < first.offset || place.offset > last.offset) return nullptr;
    if (const clang::LambdaExpr* inner = innermost_lambda(tree, lambda->getBody(), place)) return inner;
    return lambda;
  }
  for (const clang::Stmt* kid : s->children())
    if (const clang::LambdaExpr* found = innermost_lambda(tree, kid, place)) return found;
  return nullptr;
}

}  // namespace

bool is_device_only(const clang::Decl* declaration) {
  bool device = false, host = false;
  for (const clang::Attr* attribute : declaration->attrs()) {
    if (attribute->isImplicit()) continue;
    device = device || llvm::isa<clang::CUDAGlobalAttr, clang::CUDADeviceAttr, clang::CUDAConstantAttr,
                                 clang::CUDASharedAttr>(attribute);
    host = host || llvm::isa<clang::CUDAHostAttr>(attribute);
  }
  return device && !host;
}

std::vector<FunctionExtent> user_functions(const Tree& tree) {
  std::vector<FunctionExtent> found;
  each_written(
      tree, tree.context().getTranslationUnitDecl(),
      [&](const clang::DeclaratorDecl* d, clang::SourceRange range) {
        const bool device = is_device_only(d);
        const auto* function = llvm::dyn_cast<clang::FunctionDecl>(d);
        if (!device && !(function && function->isThisDeclarationADefinition())) return;
        const Spot first = tree.spot(range.getBegin()), last = tree.spot(range.getEnd());
        if (!first.file) return;
        found.push_back({tree.path_of(first.file), d->getNameAsString(),
                         static_cast<unsigned>(tree.line_of(first)),
                         static_cast<unsigned>(tree.line_of(last)), first.offset, last.offset, device});
      });
  return found;
}

const FunctionExtent* enclosing(const std::vector<FunctionExtent>& functions, const std::string& file,
                                unsigned offset) {
  const FunctionExtent* best = nullptr;
  for (const FunctionExtent& f : functions)
    if (f.first_offset <= offset && offset <= f.last_offset && f.file == file &&
        (!best || f.last_offset - f.first_offset < best->last_offset - best->first_offset))
      best = &f;
  return best;
}

bool in_device_lambda(const Tree& tree, const Spot& place) {
  bool found = false;
  each_written(tree, tree.context().getTranslationUnitDecl(),
               [&](const clang::DeclaratorDecl* d, clang::SourceRange range) {
                 const Spot first = tree.spot(range.getBegin()), last = tree.spot(range.getEnd());
                 if (first.file != place.file || place.offset < first.offset || place.offset > last.offset)
                   return;
                 const auto* function = llvm::dyn_cast<clang::FunctionDecl>(d);
                 const clang::Stmt* inside =
                     function ? function->getBody() : llvm::cast<clang::VarDecl>(d)->getInit();
                 if (const clang::LambdaExpr* lambda = innermost_lambda(tree, inside, place))
                   found = is_device_only(lambda->getCallOperator());
               });
  return found;
}

}  // namespace capgate::lint
