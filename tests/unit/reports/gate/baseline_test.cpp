#include "reports/baseline/compare.h"

#include <gtest/gtest.h>

#include "base/exit_code.h"
#include "reports/merge/merge.h"
#include "reports/terminal/gate_lines.h"
#include "reports/verdict/finish.h"
#include "tests/unit/reports/golden.h"
#include "tests/unit/reports/sample.h"

namespace capgate::reports {
namespace {

using testing::clean_run;
using testing::failed_run;
using testing::violation;

GateDecision decided(Report report, const Report* baseline, Severity fail_on = Severity::error) {
  BaselineComparison comparison;
  if (baseline) comparison = compare_with_baseline(report, *baseline);
  GateOptions gate;
  gate.fail_on = fail_on;
  gate.report_name = "gate.json";
  gate.baseline_name = baseline ? "old.json" : "";
  return decide(report, gate, comparison, {});
}

Report with(std::vector<Violation> faults) {
  Report report = clean_run();
  report.violations = std::move(faults);
  finish(report);
  return report;
}

TEST(Baseline, OnlyNewErrorsFail) {
  const Violation old_fault = violation("host-sync", "a.cpp", 12, "f", "c");
  const Report before = with({old_fault});
  Violation moved = old_fault;
  moved.location.line = 90;
  EXPECT_EQ(decided(with({moved}), &before).exit_code, kExitPass);
  EXPECT_EQ(decided(with({moved}), nullptr).exit_code, kExitFail);
  EXPECT_EQ(decided(with({moved, violation("host-poll", "a.cpp", 3, "f")}), &before).exit_code, kExitFail);
}

// A copy in `function`, with its line quoted.
Violation copy(int line, const std::string& text, const std::string& function = "f") {
  Violation fault = violation("sync-copy", "a.cpp", line, function, "cudaMemcpy");
  fault.source = {{line, text}};
  return fault;
}

TEST(Baseline, NamesTheCallThatWasPutBetweenTwoKnownOnes) {
  const Violation first = copy(10, "cudaMemcpy(a, b);"), last = copy(20, "cudaMemcpy(c, d);");
  Report now = with({first, copy(15, "cudaMemcpy(b, c);"), last});
  EXPECT_EQ(compare_with_baseline(now, with({first, last})).new_errors, 1u);
  for (const auto& fault : now.violations)
    EXPECT_EQ(fault.baseline, fault.location.line == 15 ? BaselineState::new_since : BaselineState::known);
}

TEST(Baseline, AnEditedLineIsKnownAndACallMoreIsNew) {
  const Report before = with({copy(10, "cudaMemcpy(a, b);"), copy(20, "cudaMemcpy(c, d);")});
  Report edited = with({copy(10, "cudaMemcpy(a, b);"), copy(20, "cudaMemcpy(c, d + 1);")});
  const auto same = compare_with_baseline(edited, before);
  EXPECT_EQ(same.new_errors, 0u);
  EXPECT_EQ(same.known_errors, 2u);
  EXPECT_TRUE(same.stale.empty());
  Report more =
      with({copy(10, "cudaMemcpy(a, b);"), copy(20, "cudaMemcpy(c, d + 1);"), copy(21, "cudaMemcpy(e, g);")});
  EXPECT_EQ(compare_with_baseline(more, before).new_errors, 1u);
  Report elsewhere = with({copy(10, "cudaMemcpy(a, b);"), copy(20, "cudaMemcpy(c, d + 1);", "g")});
  const auto other = compare_with_baseline(elsewhere, before);
  EXPECT_EQ(other.new_errors, 1u);
  EXPECT_EQ(other.stale.size(), 1u);
}

TEST(Baseline, AnEditedLineThatWasAllowedOrLessIsNew) {
  for (const bool allowed : {true, false}) {
    Violation was = copy(10, "cudaMemcpy(a, b);");
    if (allowed) was.suppressed = Suppressed{"meant", "a.cpp:9"};
    if (!allowed) was.severity = Severity::warning;
    Report now = with({copy(10, "cudaMemcpy(a, b + 1);")});
    EXPECT_EQ(compare_with_baseline(now, with({was})).new_errors, 1u) << allowed;
  }
}

TEST(Baseline, MarksNewAndKnown) {
  const Report before = with({violation("host-sync", "a.cpp", 12, "f", "c")});
  Report now = with({violation("host-sync", "a.cpp", 12, "f", "c"), violation("host-poll", "a.cpp", 3, "f")});
  const auto comparison = compare_with_baseline(now, before);
  EXPECT_EQ(comparison.new_errors, 1u);
  EXPECT_EQ(comparison.known_errors, 1u);
  EXPECT_TRUE(comparison.stale.empty());
  for (const auto& fault : now.violations)
    EXPECT_EQ(fault.baseline, fault.rule == "host-sync" ? BaselineState::known : BaselineState::new_since);
}

// One cause with two symptoms is one error, however it is compared; a new symptom of a known cause is new.
TEST(Baseline, CountsCauses) {
  Violation wait = violation("host-sync", "a.cpp", 12, "f", "c"),
            copy = violation("pageable-copy", "a.cpp", 11, "f"),
            branch = violation("host-branch", "a.cpp", 14, "f");
  wait.id = "#0";
  copy.symptom_of = branch.symptom_of = "#0";
  const Report report = with({wait, copy, branch});
  const std::string failed = decided(report, nullptr).text;
  EXPECT_NE(failed.find(" - 1 error with 2 symptoms\n"), std::string::npos) << failed;
  EXPECT_NE(failed.find("  error host-sync a.cpp:12 f(), with 2 symptoms\n"), std::string::npos) << failed;
  EXPECT_EQ(failed.find("  error pageable-copy"), std::string::npos) << failed;
  const std::string known = decided(report, &report).text;
  EXPECT_NE(known.find("known in old.json: 1 error, 0 warnings"), std::string::npos) << known;
  const Report before = with({wait, copy});
  const GateDecision grown = decided(report, &before);
  EXPECT_EQ(grown.exit_code, kExitFail);
  EXPECT_NE(grown.text.find("1 new error\n"), std::string::npos) << grown.text;
  EXPECT_NE(grown.text.find("  error host-branch a.cpp:14 f()\n"), std::string::npos) << grown.text;
  const Report other = with({violation("host-poll", "b.cpp", 1, "g")});
  const std::string gone = decided(other, &report).text;
  EXPECT_NE(gone.find("  host-sync a.cpp:12 f()\n"), std::string::npos) << gone;
  EXPECT_EQ(gone.find("  pageable-copy"), std::string::npos) << gone;
}

// What was allowed or only noted before is a new fault once it counts.
TEST(Baseline, DoesNotKnowWhatWasAllowedOrANote) {
  const Violation fault = violation("host-sync", "a.cpp", 12, "f", "c");
  Violation allowed = fault;
  allowed.suppressed = Suppressed{"meant", "a.cpp:12"};
  Violation noted = fault;
  noted.severity = Severity::note;
  for (const Violation& earlier : {allowed, noted}) {
    const Report before = with({earlier});
    EXPECT_EQ(decided(with({fault}), &before).exit_code, kExitFail);
  }
}

// A report whose reasons somebody took out still proves nothing.
TEST(GateCommand, AsksAnewForWhatAPassRestsOn) {
  Report report = clean_run();
  report.coverage.captures_completed = 0;
  report.coverage.regions.clear();
  report.reasons.clear();
  report.verdict = Verdict::pass;
  EXPECT_EQ(decided(report, nullptr).exit_code, kExitInconclusive);
  report = clean_run();
  report.run->exit_code = 1;
  EXPECT_EQ(decided(report, nullptr).exit_code, kExitInconclusive);
}

TEST(Baseline, DoesNotMakeAnInconclusiveReportAPass) {
  const Report before = with({violation("host-sync", "a.cpp", 12, "f", "c")});
  Report now = before;
  now.reasons = {{"events were dropped", "capgate audit again"}};
  finish(now);
  EXPECT_EQ(decided(now, &before).exit_code, kExitInconclusive);
}

TEST(GateCommand, LooksAtTheFaultsAndNotAtTheWordPass) {
  Report edited = failed_run();
  edited.verdict = Verdict::pass;
  EXPECT_EQ(decided(edited, nullptr).exit_code, kExitFail);
}

TEST(GateCommand, FailsOnWarningsWhenAsked) {
  Violation warning = violation("host-node", "a.cpp", 1, "f");
  warning.severity = Severity::warning;
  EXPECT_EQ(decided(with({warning}), nullptr).exit_code, kExitPass);
  EXPECT_EQ(decided(with({warning}), nullptr, Severity::warning).exit_code, kExitFail);
  const Report before = with({warning});
  EXPECT_EQ(decided(before, &before, Severity::warning).exit_code, kExitPass);
  Report inconclusive = with({warning});
  inconclusive.reasons = {{"why", "how"}};
  finish(inconclusive);
  EXPECT_EQ(decided(inconclusive, nullptr, Severity::warning).exit_code, kExitInconclusive);
}

Report eager_step() {
  Report report = clean_run();
  report.captures.clear();
  report.subject.buckets.clear();
  report.coverage.kind = CoverageKind::eager;
  report.coverage.captures_completed = report.coverage.replays = 0;
  report.coverage.regions = {{"decode", RegionSource::nvtx, 6}};
  finish(report);
  return report;
}

// That an eager step holds nothing that a capture refuses is no graph.
TEST(GateCommand, EagerEvidenceAloneOpensOnlyWhereItIsAllowedTo) {
  GateOptions gate;
  gate.report_name = "audit.json";
  const Report report = eager_step();
  ASSERT_EQ(report.verdict, Verdict::pass);
  const GateDecision closed = decide(report, gate, {}, {});
  EXPECT_EQ(closed.exit_code, kExitInconclusive);
  EXPECT_NE(closed.text.find("gate: inconclusive - no graph was captured"), std::string::npos) << closed.text;
  EXPECT_NE(closed.text.find("capgate gate --allow-eager audit.json\n"), std::string::npos) << closed.text;
  gate.allow_eager = true;
  const GateDecision open = decide(report, gate, {}, {});
  EXPECT_EQ(open.exit_code, kExitPass);
  EXPECT_NE(open.text.find("gate: pass (eager step only)"), std::string::npos) << open.text;
  EXPECT_NE(open.text.find("not proved: that the step captures"), std::string::npos) << open.text;
  // Beside a baseline, too; and a fault stays one.
  gate.allow_eager = false;
  Report now = report;
  const BaselineComparison comparison = compare_with_baseline(now, report);
  gate.baseline_name = "old.json";
  EXPECT_EQ(decide(now, gate, comparison, {}).exit_code, kExitInconclusive);
  gate.baseline_name.clear();
  gate.allow_eager = true;
  Report faulty = report;
  faulty.violations = {violation("host-sync", "a.cpp", 12, "f", "c")};
  finish(faulty);
  EXPECT_EQ(decide(faulty, gate, {}, {}).exit_code, kExitFail);
  // With sources beside it, there still is no graph.
  gate.allow_eager = false;
  const auto merged = merge({{report, "r", "1"}, {testing::clean_sources(), "s", "2"}}, "0.1.0");
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(decide(*merged, gate, {}, {}).exit_code, kExitInconclusive);
}

TEST(GateCommand, TellsTheFixOfWhatDecides) {
  const std::string text = decided(failed_run(), nullptr).text;
  size_t told = 0;
  for (const Violation& fault : failed_run().violations) {
    if (fault.severity != Severity::error) continue;
    EXPECT_NE(text.find("\n    fix: " + fault.hint + "\n"), std::string::npos) << text;
    ++told;
  }
  EXPECT_EQ(told, 2u);
}

TEST(GateCommand, SaysWhatDecided) {
  const Report before = with({violation("host-sync", "gone.cpp", 12, "f", "c")});
  std::string text = decided(failed_run(), nullptr).text + "---\n" + decided(clean_run(), nullptr).text +
                     "---\n" + decided(failed_run(), &before).text + "---\n";
  Report inconclusive;
  finish(inconclusive);
  text += decided(inconclusive, nullptr).text + "---\n";
  std::vector<Violation> many;
  many.reserve(14);
  for (int i = 0; i < 14; ++i) many.push_back(violation("host-sync", "a.cpp", i + 1, "f", "c"));
  text += decided(with(many), nullptr).text;
  testing::expect_golden("gate.txt", text);
}

}  // namespace
}  // namespace capgate::reports
