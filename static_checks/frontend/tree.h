// clang's syntax tree of one unit, and the places in it. Only the front end and the lowering include this:
// clang's headers take long to compile.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/Basic/SourceManager.h>

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "static_checks/frontend/unit.h"

namespace capgate::lint {

struct Compilation;  // frontend/compile.h: what keeps the tree alive

// Where something is in the text that the user wrote: for what a macro makes, where the macro is used.
struct Spot {
  clang::FileID id;
  const clang::FileEntry* file = nullptr;  // none: nowhere, or in what the compiler made itself
  unsigned offset = 0;                     // in bytes
};

class Tree {
 public:
  Tree(const Unit& unit, std::unique_ptr<Compilation> compilation);
  ~Tree();
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  clang::ASTContext& context() const { return *context_; }
  const clang::SourceManager& sources() const { return *sources_; }

  Spot spot(clang::SourceLocation location) const;
  int line_of(const Spot& spot) const;
  int column_of(const Spot& spot) const;

  // Canonical absolute path of a file; empty for none. Cached: cheap to ask again.
  const std::string& path_of(const clang::FileEntry* file) const { return known(file).path; }
  std::string_view text_of(clang::FileID file) const;

  // True for code that is judged: below the root, and neither in a system header nor in a foreign folder.
  bool is_user(clang::SourceLocation location) const;
  bool is_user(const clang::Decl* declaration) const { return is_user(declaration->getLocation()); }

  // Below the root and in no foreign folder; whether the file is a system header is not asked.
  bool is_in_root(const clang::FileEntry* file) const { return known(file).user; }

  // The parser's trouble inside the range, in the file's order. A function with trouble is "not analysed".
  std::vector<const ParseTrouble*> trouble_in(clang::SourceRange range) const;

 private:
  struct Known {
    std::string path;
    bool user = false;
  };
  const Known& known(const clang::FileEntry* file) const;

  const Unit& unit_;
  std::unique_ptr<Compilation> compilation_;
  clang::ASTContext* context_;
  const clang::SourceManager* sources_;
  mutable std::unordered_map<const clang::FileEntry*, Known> known_;
};

}  // namespace capgate::lint
