// The patterns of templates in which a capture may stand. What clang makes of a template is seen where a
// function refers to it; a virtual method, or what only an explicit instantiation asks for, nobody refers to,
// and the C API does not list it. Then the pattern is read as it is written.
#include <algorithm>
#include <cctype>

#include "static_checks/lowering/lower_impl.h"

namespace capgate::lint {

namespace {

bool is_template(CXCursorKind kind) {
  return kind == CXCursor_ClassTemplate || kind == CXCursor_ClassTemplatePartialSpecialization;
}

// Words without which no code begins a region, in whatever case they are written.
bool may_begin_a_region(std::string_view code) {
  static constexpr std::string_view kWords[] = {"captur", "graph", "region", "record"};
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) {
    return std::search(code.begin(), code.end(), word.begin(), word.end(), same) != code.end();
  });
}

}  // namespace

std::string_view Lowering::Impl::text_of(CXFile file) {
  const auto [it, fresh] = texts_.try_emplace(file);
  if (fresh) {
    size_t size = 0;
    const char* text = clang_getFileContents(unit_.tu, file, &size);
    if (text) it->second = std::string_view(text, size);
  }
  return it->second;
}

// Written inside a class template. (What is written outside of its class is looked at like any function.)
bool Lowering::Impl::is_in_a_template(CXCursor member) {
  for (CXCursor up = clang_getCursorLexicalParent(member); clang_isDeclaration(up.kind);
       up = clang_getCursorLexicalParent(up))
    if (is_template(up.kind)) return true;
  return false;
}

void Lowering::Impl::note_pattern(CXCursor cursor) {
  const CXSourceRange extent = clang_getCursorExtent(cursor);
  CXFile file = nullptr;
  unsigned first = 0, last = 0;
  clang_getExpansionLocation(clang_getRangeStart(extent), &file, nullptr, nullptr, &first);
  clang_getExpansionLocation(clang_getRangeEnd(extent), nullptr, nullptr, nullptr, &last);
  const std::string_view text = file ? text_of(file) : std::string_view();
  if (first >= last || last > text.size() || !may_begin_a_region(text.substr(first, last - first))) return;
  Function* f = function_of(cursor);
  if (!f->has_body || f->device_only || f->is_pattern) return;
  f->is_pattern = true;
  program_.patterns.push_back(f);
}

// `if constexpr`: the C API does not say so.
bool Lowering::Impl::is_constexpr_if(CXCursor cursor) {
  CXFile file = nullptr;
  unsigned offset = 0;
  clang_getSpellingLocation(clang_getCursorLocation(cursor), &file, nullptr, nullptr, &offset);
  std::string_view rest = file ? text_of(file) : std::string_view();
  if (offset >= rest.size()) return false;
  rest.remove_prefix(offset);
  if (!rest.starts_with("if")) return false;
  rest.remove_prefix(2);
  const size_t word = rest.find_first_not_of(" \t\r\n");
  return word != std::string_view::npos && rest.substr(word).starts_with("constexpr");
}

}  // namespace capgate::lint
