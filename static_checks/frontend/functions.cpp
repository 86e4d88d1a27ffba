#include "static_checks/frontend/functions.h"

namespace capgate::lint {
namespace {

struct Marks {
  bool device = false, host = false;
};

CXChildVisitResult collect_marks(CXCursor cursor, CXCursor, CXClientData data) {
  auto& marks = *static_cast<Marks*>(data);
  switch (clang_getCursorKind(cursor)) {
    case CXCursor_CUDAGlobalAttr:
    case CXCursor_CUDADeviceAttr:
    case CXCursor_CUDAConstantAttr:
    case CXCursor_CUDASharedAttr:
      marks.device = true;
      break;
    case CXCursor_CUDAHostAttr:
      marks.host = true;
      break;
    default:
      break;
  }
  return CXChildVisit_Continue;
}

bool is_device_only(CXCursor cursor) {
  Marks marks;
  clang_visitChildren(cursor, collect_marks, &marks);
  return marks.device && !marks.host;
}

struct Offsets {
  CXFile file = nullptr;
  unsigned first_line = 0, last_line = 0, first = 0, last = 0;
};

Offsets offsets_of(CXCursor cursor) {
  Offsets at;
  const CXSourceRange extent = clang_getCursorExtent(cursor);
  clang_getExpansionLocation(clang_getRangeStart(extent), &at.file, &at.first_line, nullptr, &at.first);
  clang_getExpansionLocation(clang_getRangeEnd(extent), nullptr, &at.last_line, nullptr, &at.last);
  return at;
}

struct Collector {
  const Unit& unit;
  std::vector<FunctionExtent> found;
};

CXChildVisitResult collect(CXCursor cursor, CXCursor, CXClientData data) {
  auto& collector = *static_cast<Collector*>(data);
  if (!collector.unit.is_user(cursor)) return CXChildVisit_Continue;
  switch (clang_getCursorKind(cursor)) {
    case CXCursor_Namespace:
    case CXCursor_LinkageSpec:
    case CXCursor_UnexposedDecl:  // extern "C" in older spellings
    case CXCursor_StructDecl:
    case CXCursor_ClassDecl:
    case CXCursor_UnionDecl:
    case CXCursor_ClassTemplate:
    case CXCursor_ClassTemplatePartialSpecialization:
      return CXChildVisit_Recurse;
    case CXCursor_FunctionDecl:
    case CXCursor_FunctionTemplate:
    case CXCursor_CXXMethod:
    case CXCursor_Constructor:
    case CXCursor_Destructor:
    case CXCursor_ConversionFunction:
      if (!clang_isCursorDefinition(cursor) && !is_device_only(cursor)) return CXChildVisit_Continue;
      break;
    case CXCursor_VarDecl:
      if (!is_device_only(cursor)) return CXChildVisit_Continue;
      break;
    default:
      return CXChildVisit_Continue;
  }
  const Offsets at = offsets_of(cursor);
  if (at.file)
    collector.found.push_back({collector.unit.path_of(at.file), take(clang_getCursorSpelling(cursor)),
                               at.first_line, at.last_line, at.first, at.last, is_device_only(cursor)});
  return CXChildVisit_Continue;
}

struct LambdaSearch {
  CXFile file;
  unsigned offset;
  CXCursor found;
};

CXChildVisitResult find_lambda(CXCursor cursor, CXCursor, CXClientData data) {
  auto& search = *static_cast<LambdaSearch*>(data);
  const Offsets at = offsets_of(cursor);
  // Types and the like have extents elsewhere; a declaration that holds the byte is gone into.
  if (!at.file || !clang_File_isEqual(at.file, search.file) || search.offset < at.first ||
      search.offset > at.last)
    return CXChildVisit_Continue;
  if (clang_getCursorKind(cursor) == CXCursor_LambdaExpr) search.found = cursor;  // the innermost stays
  return CXChildVisit_Recurse;
}

}  // namespace

std::vector<FunctionExtent> user_functions(const Unit& unit) {
  Collector collector{unit, {}};
  clang_visitChildren(clang_getTranslationUnitCursor(unit.tu), collect, &collector);
  return std::move(collector.found);
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

bool in_device_lambda(const Unit& unit, CXFile file, unsigned offset) {
  LambdaSearch search{file, offset, clang_getNullCursor()};
  clang_visitChildren(clang_getTranslationUnitCursor(unit.tu), find_lambda, &search);
  if (clang_Cursor_isNull(search.found)) return false;
  CXToken* tokens = nullptr;
  unsigned count = 0;
  clang_tokenize(unit.tu, clang_getCursorExtent(search.found), &tokens, &count);
  bool device = false, host = false;
  for (unsigned i = 0; i < count; ++i) {
    const std::string word = take(clang_getTokenSpelling(unit.tu, tokens[i]));
    if (word == "{") break;
    device = device || word == "__device__";
    host = host || word == "__host__";
  }
  clang_disposeTokens(unit.tu, tokens, count);
  return device && !host;
}

}  // namespace capgate::lint
