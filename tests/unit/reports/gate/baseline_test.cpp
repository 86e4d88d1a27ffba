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
  if (baseline) comparison = compare_with_baseline(report, *baseline, "old.json");
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

// One cause with two symptoms is one error, however it is compared: who accepts a cause accepts its
// symptoms, and who accepts a symptom alone has not accepted its cause.
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
  EXPECT_NE(
      known.find("gate: pass (capture only) - no new error\n  not counted: 1 error, known in old.json\n"),
      std::string::npos)
      << known;
  Violation alone = wait;
  alone.id.clear();
  const Report cause = with({alone});
  const GateDecision covered = decided(report, &cause);
  EXPECT_EQ(covered.exit_code, kExitPass);
  EXPECT_NE(covered.text.find("  not counted: 1 error, known in old.json\n"), std::string::npos)
      << covered.text;
  copy.symptom_of.reset();
  branch.symptom_of.reset();
  const Report symptoms = with({copy, branch});
  const GateDecision uncovered = decided(report, &symptoms);
  EXPECT_EQ(uncovered.exit_code, kExitFail);
  EXPECT_NE(uncovered.text.find(" - 1 new error\n"), std::string::npos) << uncovered.text;
  EXPECT_NE(uncovered.text.find("  error host-sync a.cpp:12 f()\n"), std::string::npos) << uncovered.text;
  EXPECT_EQ(uncovered.text.find("not counted"), std::string::npos) << uncovered.text;
  const Report other = with({violation("host-poll", "b.cpp", 1, "g")});
  const std::string gone = decided(other, &report).text;
  EXPECT_NE(gone.find("  host-sync a.cpp:12 f()\n"), std::string::npos) << gone;
  EXPECT_EQ(gone.find("  pageable-copy"), std::string::npos) << gone;
}

// What every view of a report begins with.
TEST(Baseline, PutsWhatIsNewFirstAndJudgesIt) {
  Violation wait = violation("host-sync", "a.cpp", 12, "f", "c"),
            branch = violation("host-branch", "a.cpp", 14, "f"),
            warning = violation("host-poll", "a.cpp", 20, "f");
  wait.id = "#0";
  branch.symptom_of = "#0";
  warning.severity = Severity::warning;
  const Report before = with({wait, branch});
  Report now = with({wait, branch, warning});
  ASSERT_EQ(now.verdict, Verdict::fail);
  ASSERT_EQ(now.violations.front().rule, "host-sync");
  compare_with_baseline(now, before, "old.json");
  EXPECT_EQ(now.verdict, Verdict::pass);
  EXPECT_EQ(now.violations[0].rule, "host-poll");
  EXPECT_EQ(now.violations[1].rule, "host-sync");
  EXPECT_EQ(now.violations[2].rule, "host-branch");
  ASSERT_TRUE(now.compared);
  EXPECT_EQ(now.compared->file, "old.json");
  EXPECT_EQ(now.compared->new_warnings, 1u);
  EXPECT_EQ(now.compared->known_errors, 1u);
  // A new cause is what fails, whatever is known of its symptoms, and stands first.
  Report grown = with({wait, branch, warning});
  branch.symptom_of.reset();
  compare_with_baseline(grown, with({branch, warning}), "old.json");
  EXPECT_EQ(grown.verdict, Verdict::fail);
  EXPECT_EQ(grown.violations[0].rule, "host-sync");
  EXPECT_EQ(grown.violations[1].rule, "host-branch");
  EXPECT_EQ(grown.summary.errors, 1u);
  EXPECT_EQ(grown.summary.symptoms, 1u);
}

// Marks that somebody wrote into a report are nobody's comparison.
TEST(Baseline, MarksOfTheReportItselfExcuseNothing) {
  Report report = with({violation("host-sync", "a.cpp", 12, "f", "c")});
  report.violations[0].baseline = BaselineState::known;
  EXPECT_EQ(decided(report, nullptr).exit_code, kExitFail);
  EXPECT_FALSE(report.knows(report.violations[0]));
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
  const BaselineComparison comparison = compare_with_baseline(now, report, "old.json");
  gate.baseline_name = "old.json";
  const GateDecision beside = decide(now, gate, comparison, {});
  EXPECT_EQ(beside.exit_code, kExitInconclusive);
  EXPECT_NE(beside.text.find(": capgate gate --baseline old.json --allow-eager audit.json\n"),
            std::string::npos)
      << beside.text;
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

TEST(GateCommand, SaysWhatItDoesNotCountAndWhy) {
  Violation warning = violation("host-node", "a.cpp", 1, "f");
  warning.severity = Severity::warning;
  Violation allowed = violation("host-sync", "a.cpp", 5, "f", "c");
  allowed.suppressed = Suppressed{"meant", "a.cpp:5"};
  const Violation known = violation("host-poll", "a.cpp", 9, "f");
  const Report before = with({known});
  const std::string text = decided(with({warning, allowed, known}), &before).text;
  EXPECT_NE(
      text.find("gate: pass (capture only) - no new error\n"
                "  not counted: 1 error, known in old.json; 1 warning, without --fail-on warning; 1 allowed "
                "fault\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("  not proved: that each capture completes: a known error is left"), std::string::npos)
      << text;
  const std::string failed = decided(with({warning, allowed}), nullptr, Severity::warning).text;
  EXPECT_NE(failed.find("gate: fail - 1 warning, by --fail-on warning\n"), std::string::npos) << failed;
  EXPECT_NE(failed.find("  not counted: 1 allowed fault\n"), std::string::npos) << failed;
}

TEST(GateCommand, NamesCommandsThatCanBePasted) {
  GateOptions gate;
  gate.report_name = "my report.json";
  gate.baseline_name = "old.json";
  Report report = failed_run();
  const Report other = with({violation("host-poll", "b.cpp", 1, "g")});
  const BaselineComparison comparison = compare_with_baseline(report, other, "old.json");
  gate.baseline_is_report = false;
  gate.fail_on = Severity::warning;
  const std::string text = decide(report, gate, comparison, {}).text;
  EXPECT_NE(text.find("  more: capgate show --baseline old.json 'my report.json'; in a browser: capgate view "
                      "--baseline old.json 'my report.json'\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("; drop them: capgate gate --baseline old.json --fail-on warning --update-baseline "
                      "--add-nothing 'my "
                      "report.json'\n"),
            std::string::npos)
      << text;
}

TEST(GateCommand, QuotesTheLineOfTheFirstThreeAndSaysWhatHappenedAtEach) {
  std::vector<Violation> faults;
  for (int line = 1; line <= 5; ++line) {
    Violation& fault = faults.emplace_back(violation("host-sync", "a.cpp", line, "f", "c"));
    fault.message = "the host waits, " + std::to_string(line);
    fault.source = {{line, "wait(" + std::to_string(line) + ");"}};
  }
  const std::string text = decided(with(faults), nullptr).text;
  for (int line = 1; line <= 5; ++line) {
    const std::string number = std::to_string(line);
    EXPECT_NE(text.find("a.cpp:" + number + " f()\n    the host waits, " + number + "\n"), std::string::npos)
        << text;
    EXPECT_EQ(text.find("    > " + number + " | wait(" + number + ");\n") != std::string::npos, line <= 3)
        << text;
  }
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
