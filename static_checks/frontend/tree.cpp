#include "static_checks/frontend/tree.h"

#include <algorithm>
#include <cstdlib>

#include "static_checks/commands/files.h"
#include "static_checks/frontend/compile.h"
#include "static_checks/frontend/shim.h"

namespace capgate::lint {

namespace {

std::string canonical(clang::FileEntryRef file) {
  std::string path = file.getFileEntry().tryGetRealPathName().str();
  if (path.empty()) path = file.getName().str();
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr), &std::free);
  return real ? real.get() : path;
}

}  // namespace

Unit::Unit() = default;
Unit::~Unit() = default;

Tree::Tree(const Unit& unit, std::unique_ptr<Compilation> compilation)
    : unit_(unit),
      compilation_(std::move(compilation)),
      context_(&compilation_->compiler.getASTContext()),
      sources_(&compilation_->compiler.getSourceManager()) {}
Tree::~Tree() = default;

Spot Tree::spot(clang::SourceLocation location) const {
  Spot spot;
  if (location.isInvalid()) return spot;
  const auto [id, offset] = sources_->getDecomposedExpansionLoc(location);
  spot.id = id;
  spot.offset = offset;
  const clang::OptionalFileEntryRef file = sources_->getFileEntryRefForID(id);
  if (!file) return spot;
  spot.file = &file->getFileEntry();
  const auto [entry, fresh] = known_.try_emplace(spot.file);
  if (!fresh) return spot;
  Known& known = entry->second;
  known.path = canonical(*file);
  known.user = is_below(known.path, unit_.root);
  for (const std::string& dir : unit_.foreign_dirs) known.user = known.user && !is_below(known.path, dir);
  return spot;
}

int Tree::line_of(const Spot& spot) const {
  return spot.file ? static_cast<int>(sources_->getLineNumber(spot.id, spot.offset)) : 0;
}

int Tree::column_of(const Spot& spot) const {
  return spot.file ? static_cast<int>(sources_->getColumnNumber(spot.id, spot.offset)) : 0;
}

std::string_view Tree::text_of(clang::FileID file) const {
  if (file.isInvalid()) return {};
  const std::optional<llvm::StringRef> text = sources_->getBufferDataOrNone(file);
  return text ? std::string_view(text->data(), text->size()) : std::string_view();
}

const Tree::Known& Tree::known(const clang::FileEntry* file) const {
  static const Known kNone;
  const auto entry = known_.find(file);
  return entry == known_.end() ? kNone : entry->second;
}

bool Tree::is_user(clang::SourceLocation location) const {
  if (location.isInvalid() || sources_->isInSystemHeader(location)) return false;
  const Spot at = spot(location);
  return at.file && known(at.file).user;
}

std::vector<const ParseTrouble*> Tree::trouble_in(clang::SourceRange range) const {
  std::vector<const ParseTrouble*> found;
  if (unit_.trouble.empty()) return found;
  const Spot first = spot(range.getBegin()), last = spot(range.getEnd());
  if (!first.file) return found;
  const std::string& path = path_of(first.file);
  for (const ParseTrouble& t : unit_.trouble)
    if (t.offset >= first.offset && t.offset <= last.offset && t.file == path) found.push_back(&t);
  std::sort(found.begin(), found.end(),
            [](const ParseTrouble* a, const ParseTrouble* b) { return a->offset < b->offset; });
  return found;
}

std::vector<IncludedFile> included_files(const Unit& unit) {
  const Tree& tree = *unit.tree;
  const clang::SourceManager& sources = tree.sources();
  std::vector<IncludedFile> list;
  for (unsigned i = 0; i < sources.local_sloc_entry_size(); ++i) {
    const clang::SrcMgr::SLocEntry& entry = sources.getLocalSLocEntry(i);
    if (!entry.isFile()) continue;
    const clang::SrcMgr::FileInfo& info = entry.getFile();
    if (!info.getContentCache().OrigEntry) continue;
    const auto start = clang::SourceLocation::getFromRawEncoding(entry.getOffset());
    const Spot at = tree.spot(start);
    const std::string& path = tree.path_of(at.file);
    if (path.starts_with(kShimDir)) continue;
    IncludedFile included{path, "", tree.text_of(at.id), path == unit.main_file};
    if (const Spot from = tree.spot(info.getIncludeLoc()); from.file)
      included.folder = parent_directory(tree.path_of(from.file));
    included.user = included.user || tree.is_user(start);
    list.push_back(std::move(included));
  }
  return list;
}

}  // namespace capgate::lint
