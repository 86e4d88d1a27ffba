// An analysis for tests: a function annotated "capgate::region" is a region; a call in it to a function named
// `banned` is an error; the parser's trouble in it makes it "not analysed". Nothing else.
#include "static_checks/analysis.h"

#include "static_checks/frontend/unit.h"

namespace capgate::lint {
namespace {

struct Walk {
  const Unit& unit;
  UnitResult& result;
  std::string region;
};

Place place_of(const Unit& unit, CXCursor cursor) {
  CXFile file = nullptr;
  unsigned line = 0, column = 0;
  clang_getExpansionLocation(clang_getCursorLocation(cursor), &file, &line, &column, nullptr);
  return {unit.path_of(file), static_cast<int>(line), static_cast<int>(column)};
}

CXChildVisitResult find_annotation(CXCursor cursor, CXCursor, CXClientData data) {
  if (clang_getCursorKind(cursor) == CXCursor_AnnotateAttr &&
      take(clang_getCursorSpelling(cursor)) == "capgate::region")
    *static_cast<bool*>(data) = true;
  return CXChildVisit_Continue;
}

CXChildVisitResult find_calls(CXCursor cursor, CXCursor, CXClientData data) {
  auto& walk = *static_cast<Walk*>(data);
  if (clang_getCursorKind(cursor) == CXCursor_CallExpr && take(clang_getCursorSpelling(cursor)) == "banned") {
    Finding finding;
    finding.rule = "host-sync";
    finding.message = "banned() waits";
    finding.place = place_of(walk.unit, cursor);
    finding.function = walk.region;
    finding.callee = "banned";
    finding.region = walk.region;
    finding.flow = {{finding.place, "in region " + walk.region}};
    walk.result.findings.push_back(std::move(finding));
  }
  return CXChildVisit_Recurse;
}

CXChildVisitResult visit(CXCursor cursor, CXCursor, CXClientData data) {
  auto& walk = *static_cast<Walk*>(data);
  if (!walk.unit.is_user(cursor)) return CXChildVisit_Continue;
  const CXCursorKind kind = clang_getCursorKind(cursor);
  if (kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec) return CXChildVisit_Recurse;
  if (kind != CXCursor_FunctionDecl || !clang_isCursorDefinition(cursor)) return CXChildVisit_Continue;
  bool region = false;
  clang_visitChildren(cursor, find_annotation, &region);
  const std::string name = take(clang_getCursorSpelling(cursor));
  walk.region = region ? name : "";
  if (region) walk.result.regions.push_back({name, "annotated", name, place_of(walk.unit, cursor), 0});
  if (const auto trouble = walk.unit.trouble_in(cursor); !trouble.empty())
    walk.result.not_analysed.push_back({name, take(clang_getCursorUSR(cursor)), place_of(walk.unit, cursor),
                                        trouble.front()->message, "", walk.region});
  else
    ++walk.result.functions_analysed;
  if (region) clang_visitChildren(cursor, find_calls, data);
  return CXChildVisit_Continue;
}

}  // namespace

UnitResult analyze_unit(const Unit& unit, const LintOptions&) {
  UnitResult result;
  result.summary.main_file = unit.main_file;
  Walk walk{unit, result, ""};
  clang_visitChildren(clang_getTranslationUnitCursor(unit.tu), visit, &walk);
  return result;
}

}  // namespace capgate::lint
