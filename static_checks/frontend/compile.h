// clang's own front end, run over one unit. The one place that derives from its classes.
#pragma once

#include <clang/Basic/SourceLocation.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>

#include <memory>
#include <string>
#include <vector>

#include "static_checks/frontend/shim.h"

namespace capgate::lint {

// An error of the parser, with the notes that explain it.
struct ParserError {
  std::string text;  // one line
  clang::SourceLocation at;
  std::vector<ParserError> notes;
};

struct Compilation {
  Compilation();
  ~Compilation();
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  std::vector<ParserError> errors;
  std::unique_ptr<clang::DiagnosticConsumer> listener;  // fills `errors`
  clang::CompilerInstance compiler;
  std::unique_ptr<clang::FrontendAction> action;  // begun and not ended: ending it takes the tree down
};

// `arguments` are clang's, without the file. Nothing: clang refused them and has no tree.
std::unique_ptr<Compilation> compile(const std::string& file, const std::vector<std::string>& arguments,
                                     const Shim& shim);

}  // namespace capgate::lint
