#include "static_checks/frontend/unit.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "static_checks/frontend/files.h"

namespace capgate::lint {

std::string take(CXString string) {
  const char* text = clang_getCString(string);
  std::string copy = text ? text : "";
  clang_disposeString(string);
  return copy;
}

namespace {

std::string canonical(CXFile file) {
  std::string path = take(clang_File_tryGetRealPathName(file));
  if (path.empty()) path = take(clang_getFileName(file));
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr), &std::free);
  return real ? real.get() : path;
}

}  // namespace

const Unit::Known& Unit::known(CXFile file) const {
  const auto [entry, fresh] = known_.try_emplace(file);
  Known& known = entry->second;
  if (!fresh || !file) return known;
  known.path = canonical(file);
  known.user = is_below(known.path, root);
  for (const std::string& dir : foreign_dirs) known.user = known.user && !is_below(known.path, dir);
  return known;
}

bool Unit::is_user(CXSourceLocation location) const {
  if (clang_Location_isInSystemHeader(location)) return false;
  CXFile file = nullptr;
  clang_getExpansionLocation(location, &file, nullptr, nullptr, nullptr);
  return file && known(file).user;
}

std::vector<const ParseTrouble*> Unit::trouble_in(CXCursor function) const {
  std::vector<const ParseTrouble*> found;
  if (trouble.empty()) return found;
  const CXSourceRange extent = clang_getCursorExtent(function);
  CXFile file = nullptr;
  unsigned first = 0, last = 0;
  clang_getExpansionLocation(clang_getRangeStart(extent), &file, nullptr, nullptr, &first);
  clang_getExpansionLocation(clang_getRangeEnd(extent), nullptr, nullptr, nullptr, &last);
  if (!file) return found;
  const std::string& path = path_of(file);
  for (const ParseTrouble& t : trouble)
    if (t.offset >= first && t.offset <= last && t.file == path) found.push_back(&t);
  std::sort(found.begin(), found.end(),
            [](const ParseTrouble* a, const ParseTrouble* b) { return a->offset < b->offset; });
  return found;
}

Unit::~Unit() {
  if (tu) clang_disposeTranslationUnit(tu);
  if (index) clang_disposeIndex(index);
}

}  // namespace capgate::lint
