#include <fmt/format.h>

#include <exception>

#include "static_checks/analysis.h"
#include "static_checks/frontend/unit.h"
#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

namespace {

void failed(UnitResult& result, const Unit& unit, std::string reason) {
  NotAnalysed gap;
  gap.function = "(the whole unit)";
  gap.place = {unit.main_file, 1, 0};
  gap.reason = "nothing of this source was analysed: " + std::move(reason);
  gap.remedy = "lint the file in smaller parts, and the rest without it";
  gap.region = "(unknown)";
  gap.whole = true;
  result.not_analysed.push_back(std::move(gap));
}

struct Analysis {
  Analysis(const Unit& unit, Tables all_tables, const LintOptions& options)
      : tables(std::move(all_tables)),
        lowering(unit, program),
        interpreter((lowering.collect(), program), lowering, tables, options, unit) {}
  Tables tables;
  Program program;
  Lowering lowering;
  Interpreter interpreter;
};

}  // namespace

UnitResult analyze_unit(const Unit& unit, const LintOptions& options) {
  UnitResult result;
  try {
    Tables tables;
    for (const auto& [name, text] : builtin_tables())
      if (const auto added = tables.add(text, name); !added) {
        failed(result, unit, added.error());
        return result;
      }
    for (size_t i = 0; i < options.source_tables.size(); ++i)
      if (const auto added = tables.add(options.source_tables[i], fmt::format("source table {}", i + 1));
          !added) {
        failed(result, unit, added.error());
        return result;
      }
    // Kept until the next unit: a worker ends after one, and taking it all apart would be lost time.
    static std::unique_ptr<Analysis> last;
    last = std::make_unique<Analysis>(unit, std::move(tables), options);
    result = last->interpreter.run();
    result.summary.main_file = unit.main_file;
  } catch (const std::exception& e) {
    failed(result, unit, fmt::format("the analysis failed: {}", e.what()));
  }
  return result;
}

}  // namespace capgate::lint
