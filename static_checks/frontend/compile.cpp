#include "static_checks/frontend/compile.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>

#include <map>
#include <utility>

#include "static_checks/frontend/system_files.h"

namespace capgate::lint {
namespace {

class Listener : public clang::DiagnosticConsumer {
 public:
  explicit Listener(std::vector<ParserError>& errors) : errors_(errors) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    clang::DiagnosticConsumer::HandleDiagnostic(level, info);
    if (level == clang::DiagnosticsEngine::Note) {
      if (explains_an_error_ && !errors_.empty()) errors_.back().notes.push_back(told(info));
      return;
    }
    explains_an_error_ = level >= clang::DiagnosticsEngine::Error;
    if (explains_an_error_) errors_.push_back(told(info));
  }

 private:
  static ParserError told(const clang::Diagnostic& info) {
    llvm::SmallString<256> text;
    info.FormatDiagnostic(text);
    return {text.str().str(), info.getLocation(), {}};
  }
  std::vector<ParserError>& errors_;
  bool explains_an_error_ = false;
};

bool is_in_namespace(const clang::Decl* declaration, llvm::StringRef name) {
  for (const clang::DeclContext* up = declaration->getDeclContext(); up; up = up->getParent())
    if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(up); space && space->getName() == name)
      return true;
  return false;
}

class Consumer : public clang::ASTConsumer {
 public:
  // Bodies in system headers are not looked into, and they are a fifth of the work: CUDA's headers have
  // thousands. Those of templates are needed: what they call is instantiated from them. So are those of other
  // projects, whose headers a build system likes to call the system's.
  bool shouldSkipFunctionBody(clang::Decl* declaration) override {
    const auto* function = llvm::dyn_cast_or_null<clang::FunctionDecl>(declaration);
    if (!function || function->isTemplated() || is_in_namespace(function, "capgate")) return false;
    const clang::SourceManager& sources = function->getASTContext().getSourceManager();
    const clang::SourceLocation at = sources.getExpansionLoc(function->getLocation());
    return sources.isInSystemHeader(at) && (is_the_systems(sources, at) || is_modelled(function));
  }

 private:
  bool is_the_systems(const clang::SourceManager& sources, clang::SourceLocation at) {
    const auto [known, fresh] = systems_.try_emplace(sources.getFileID(at), false);
    if (fresh) known->second = is_of_the_system(sources.getFilename(at).str());
    return known->second;
  }
  static bool is_modelled(const clang::FunctionDecl* function) {
    return is_in_namespace(function, "at") || is_in_namespace(function, "c10") ||
           is_in_namespace(function, "torch") || is_in_namespace(function, "thrust") ||
           is_in_namespace(function, "cub");
  }

  std::map<clang::FileID, bool> systems_;
};

// The project's own code sees __NVCC__, as it does when nvcc builds it. System headers do not: CUDA's and
// CCCL's have arms for clang, and in those for nvcc they use builtins that clang lacks.
class HidesNvcc : public clang::PPCallbacks {
 public:
  explicit HidesNvcc(clang::Preprocessor& preprocessor)
      : preprocessor_(preprocessor), name_(preprocessor.getIdentifierInfo("__NVCC__")) {}

  void FileChanged(clang::SourceLocation at, FileChangeReason, clang::SrcMgr::CharacteristicKind kind,
                   clang::FileID) override {
    if (clang::SrcMgr::isSystem(kind)) {
      clang::MacroInfo* const defined = preprocessor_.getMacroInfo(name_);
      if (!defined) return;
      hidden_ = defined;
      preprocessor_.appendMacroDirective(
          name_, new (preprocessor_.getPreprocessorAllocator()) clang::UndefMacroDirective(at));
    } else if (hidden_) {
      preprocessor_.appendDefMacroDirective(name_, std::exchange(hidden_, nullptr));
    }
  }

 private:
  clang::Preprocessor& preprocessor_;
  clang::IdentifierInfo* name_;
  clang::MacroInfo* hidden_ = nullptr;
};

class Action : public clang::ASTFrontendAction {
 public:
  bool BeginSourceFileAction(clang::CompilerInstance& compiler) override {
    clang::Preprocessor& preprocessor = compiler.getPreprocessor();
    preprocessor.addPPCallbacks(std::make_unique<HidesNvcc>(preprocessor));
    return true;
  }
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&, llvm::StringRef) override {
    return std::make_unique<Consumer>();
  }
};

}  // namespace

Compilation::Compilation() : listener(std::make_unique<Listener>(errors)) {}
Compilation::~Compilation() {
  if (action) action->EndSourceFile();
}

std::unique_ptr<Compilation> compile(const std::string& file, const std::vector<std::string>& arguments,
                                     const Shim& shim) {
  auto made = std::make_unique<Compilation>();
  std::vector<const char*> words{"clang", "-fsyntax-only", "-fno-spell-checking"};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  words.push_back(file.c_str());

  clang::CompilerInstance& compiler = made->compiler;
  clang::CreateInvocationOptions options;
  options.Diags = clang::CompilerInstance::createDiagnostics(new clang::DiagnosticOptions,
                                                             made->listener.get(), /*ShouldOwnClient=*/false);
  std::unique_ptr<clang::CompilerInvocation> invocation = clang::createInvocation(words, options);
  if (!invocation || invocation->getFrontendOpts().Inputs.size() != 1) return nullptr;
  invocation->getFrontendOpts().SkipFunctionBodies = true;  // those that Consumer gives away
  clang::PreprocessorOptions& preprocessor = invocation->getPreprocessorOpts();
  for (const auto& [path, text] : shim.files())
    preprocessor.addRemappedFile(path, llvm::MemoryBuffer::getMemBufferCopy(text, path).release());

  compiler.setInvocation(std::move(invocation));
  compiler.createDiagnostics(made->listener.get(), /*ShouldOwnClient=*/false);
  // A header that is not found costs what it declares, not the rest of the file.
  compiler.getDiagnostics().setFatalsAsError(true);
  if (!compiler.createTarget()) return nullptr;
  auto action = std::make_unique<Action>();
  if (!action->BeginSourceFile(compiler, compiler.getFrontendOpts().Inputs[0])) return nullptr;
  made->action = std::move(action);
  if (llvm::Error error = made->action->Execute()) {
    llvm::consumeError(std::move(error));
    return nullptr;
  }
  return made;
}

}  // namespace capgate::lint
