// An analysis for tests: a function annotated "capgate::region" is a region; a call in it to a function named
// `banned` is an error; the parser's trouble in it makes it "not analysed". Nothing else.
#include "static_checks/analysis.h"
#include "static_checks/lowering/lower.h"

namespace capgate::lint {
namespace {

void find_calls(const Program& program, const Node* n, const Function& region, UnitResult& result) {
  if (!n) return;
  if (n->op == Op::call && n->function && n->function->spelled == "banned") {
    Finding finding;
    finding.rule = "host-sync";
    finding.message = "banned() waits";
    finding.place = program.place(n);
    finding.function = region.spelled;
    finding.callee = "banned";
    finding.region = region.spelled;
    finding.flow = {{finding.place, "in region " + region.spelled}};
    result.findings.push_back(std::move(finding));
  }
  for (const Node* kid : n->kids) find_calls(program, kid, region, result);
}

}  // namespace

UnitResult analyze_unit(const Unit& unit, const LintOptions&) {
  UnitResult result;
  result.summary.main_file = unit.main_file;
  Program program;
  Lowering lowering(unit, program);
  lowering.collect();
  for (Function* f : program.user_functions) {
    const std::string region = f->region ? f->spelled : "";
    if (f->region) result.regions.push_back({region, "annotated", region, f->place, 0});
    if (!f->trouble.empty())
      result.not_analysed.push_back({f->spelled, f->usr, f->place, f->trouble, "", region});
    else
      ++result.functions_analysed;
    lowering.lower(*f);
    if (f->region) find_calls(program, f->body, *f, result);
  }
  return result;
}

}  // namespace capgate::lint
