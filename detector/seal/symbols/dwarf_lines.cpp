#include "detector/seal/symbols/dwarf_lines.h"

#include <dwarf.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>

#include "base/demangle.h"

namespace capgate::seal {
namespace {

using Scopes = std::unique_ptr<Dwarf_Die, decltype(&std::free)>;

// Files are given as the unit's compiler saw them, which may be relative to its folder.
std::string tidy(Dwarf_Die* unit, const char* path) {
  if (!path) return {};
  std::filesystem::path file(path);
  Dwarf_Attribute attribute;
  if (file.is_relative() && dwarf_attr(unit, DW_AT_comp_dir, &attribute))
    if (const char* folder = dwarf_formstring(&attribute)) file = folder / file;
  return file.lexically_normal().string();
}

// For what has no symbol of its own (a static function that was inlined everywhere): its name with the
// namespaces, classes and functions around its declaration. A definition may stand outside them and point at
// what is inside.
std::string qualified_name(Dwarf_Die* die, int depth = 0) {
  constexpr int kDeepest = 32;  // a damaged file may point in circles
  const bool is_class = dwarf_tag(die) == DW_TAG_class_type || dwarf_tag(die) == DW_TAG_structure_type;
  std::string out;
  if (const char* name = dwarf_diename(die))
    out = name;
  else if (is_class)
    out = "{lambda}";
  else if (dwarf_tag(die) == DW_TAG_namespace)
    out = "(anonymous namespace)";
  if (depth == kDeepest || out.empty()) return out;
  Dwarf_Attribute attribute;
  Dwarf_Die declared = *die, next;
  for (const auto link : {DW_AT_abstract_origin, DW_AT_specification})
    if (dwarf_attr(&declared, static_cast<unsigned>(link), &attribute) &&
        dwarf_formref_die(&attribute, &next))
      declared = next;
  Dwarf_Die* parents = nullptr;
  const int count = dwarf_getscopes_die(&declared, &parents);
  const Scopes scopes(parents, std::free);
  for (int i = 1; i < count; ++i) {
    const int tag = dwarf_tag(scopes.get() + i);
    if (tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
        tag == DW_TAG_subprogram)
      return qualified_name(scopes.get() + i, depth + 1) + "::" + out;
  }
  return out;
}

std::string name_of(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  for (const auto which : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
    if (dwarf_attr_integrate(die, static_cast<unsigned>(which), &attribute))
      if (const char* name = dwarf_formstring(&attribute)) return demangle(name);
  return qualified_name(die);
}

// Where an inlined function was called from.
void call_place(Dwarf_Die* unit, Dwarf_Die* die, std::string& file, int& line) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  file.clear();
  line = 0;
  if (dwarf_attr(die, DW_AT_call_line, &attribute) && dwarf_formudata(&attribute, &value) == 0)
    line = static_cast<int>(value);
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (dwarf_attr(die, DW_AT_call_file, &attribute) && dwarf_formudata(&attribute, &value) == 0 &&
      dwarf_getsrcfiles(unit, &files, &count) == 0 && value < count)
    file = tidy(unit, dwarf_filesrc(files, value, nullptr, nullptr));
}

}  // namespace

DwarfLines::DwarfLines(Dwarf* dwarf) : dwarf_(dwarf) {
  // .debug_aranges is optional (clang leaves it out), so each unit is asked.
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die, split;
  uint8_t type = 0;
  while (dwarf_get_units(dwarf_, unit, &unit, nullptr, &type, &die, &split) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    const size_t index = units_.size();
    units_.push_back(type == DW_UT_skeleton && dwarf_tag(&split) == DW_TAG_compile_unit ? split : die);
    Dwarf_Addr base = 0, start = 0, end = 0;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0;)
      if (start < end) ranges_.push_back({start, end, index});
  }
  std::sort(ranges_.begin(), ranges_.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
}

std::vector<SourcePlace> DwarfLines::find(uint64_t address) const {
  std::vector<SourcePlace> places;
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), address,
                       [](uint64_t value, const UnitRange& range) { return value < range.start; });
  if (after == ranges_.begin()) return places;
  const UnitRange& range = *std::prev(after);
  if (range.end <= address) return places;
  Dwarf_Die* unit = &units_[range.unit];

  std::string file;
  int line = 0;
  if (Dwarf_Line* row = dwarf_getsrc_die(unit, address)) {
    dwarf_lineno(row, &line);
    file = tidy(unit, dwarf_linesrc(row, nullptr, nullptr));
  }
  Dwarf_Die* found = nullptr;
  if (dwarf_getscopes(unit, address, &found) > 0) {
    // dwarf_getscopes() goes on through the abstract instance of what was inlined; the concrete parents are
    // the calls.
    const Scopes innermost(found, std::free);
    Dwarf_Die* parents = nullptr;
    const int count = dwarf_getscopes_die(innermost.get(), &parents);
    const Scopes scopes(parents, std::free);
    for (int i = 0; i < count; ++i) {
      Dwarf_Die* scope = scopes.get() + i;
      const int tag = dwarf_tag(scope);
      if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
      const bool inlined = tag == DW_TAG_inlined_subroutine;
      places.push_back({name_of(scope), file, line, inlined});
      if (!inlined) break;
      call_place(unit, scope, file, line);
    }
  }
  if (places.empty() && line > 0) places.push_back({"", file, line, false});
  return places;
}

}  // namespace capgate::seal
