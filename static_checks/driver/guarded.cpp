#include "static_checks/driver/guarded.h"

#include <algorithm>
#include <utility>

namespace capgate::lint {

Guarded::Guarded(std::vector<Assumption> assumptions, const std::vector<UnitSummary>& units, bool whole)
    : assumptions_(std::move(assumptions)) {
  bool has_main = false;
  for (const UnitSummary& unit : units) {
    has_main = has_main || unit.has_main;
    set_.insert(set_.end(), unit.set.begin(), unit.set.end());
  }
  std::sort(set_.begin(), set_.end());
  set_.erase(std::unique(set_.begin(), set_.end()), set_.end());
  knows_all_ = whole && has_main;  // of a library, its users set what they like
}

void Guarded::settle(Finding& finding) const {
  if (finding.tests.empty()) return;
  const bool was_note = finding.severity == reports::Severity::note;
  std::string text, because;
  for (const HostTest& test : finding.tests) {
    if (!text.empty()) text += " and ";
    text += test.text.empty() ? "a condition holds" : test.text;
    if (!because.empty()) continue;
    if (test.in_no_capture)
      because = "a stream that captures is not null";
    else if (const Assumption* assumed = ruled_out(test, assumptions_)) {
      assumed->used = true;
      because = "ruled out by the assumption " + assumed->text;
      finding.details["assumed"] = assumed->text;
      if (!was_note) finding.details["not_assumed"] = "warning";  // for merge, should a run refute it
    } else if (knows_all_ && never_holds(test, set_)) {
      because = "nothing in the program sets it";
    }
  }
  if (!because.empty()) finding.severity = reports::Severity::note;
  finding.message += (was_note ? "; only if " : ", only if ") + text;
  if (!because.empty()) finding.message += " (" + because + ")";
  finding.details["only_if"] = text;
  for (const HostTest& test : finding.tests) {
    const auto before = finding.flow.empty() ? finding.flow.end() : finding.flow.end() - 1;
    finding.flow.insert(before,
                        {test.place, "only if " + (test.text.empty() ? "a condition holds" : test.text)});
  }
}

void Guarded::report_unused(reports::Report& report) const {
  for (const Assumption& one : assumptions_)
    if (!one.used)
      report.coverage.not_checked.push_back("the assumption " + one.text + " (" + one.origin +
                                            ") rules nothing out: no finding depends on it");
}

}  // namespace capgate::lint
