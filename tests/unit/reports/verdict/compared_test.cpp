// What a report says of graphs beside eager steps, and what the weaker gate takes.
#include "reports/verdict/compared.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "reports/json/json.h"
#include "reports/terminal/gate_lines.h"
#include "reports/verdict/finish.h"
#include "reports/verdict/watched.h"
#include "tests/unit/reports/sample.h"

namespace capgate::reports {
namespace {

using testing::clean_run;

ComparedReplay compared(const std::string& capture, const std::string& bucket) {
  ComparedReplay out;
  out.executable = "4711:e" + capture.substr(1);
  out.captures = {capture};
  out.buckets = {bucket};
  out.nodes = 40;
  out.matched = 40;
  out.steps = 3;
  out.values = 200;
  out.unvaried = 190;
  return out;
}

// Both graphs of the sample are.
Report run() {
  Report report = clean_run();
  report.coverage.replay->compared = {compared("c1", "bs=1"), compared("c2", "bs=8")};
  finish(report);
  return report;
}

std::string missing(const Report& report, const std::vector<std::string>& buckets = {}) {
  const auto reason = missing_comparison(report, buckets);
  if (reason) {
    EXPECT_FALSE(reason->remedy.empty());
  }
  return reason ? reason->text : "";
}

TEST(ComparedReplays, OfAllGraphsAreEnoughForTheWeakerGate) {
  EXPECT_EQ(missing(run()), "");
  EXPECT_EQ(missing(run(), {"bs=8"}), "");
  EXPECT_EQ(missing(run(), {"bs=16"}), "bucket \"bs=16\": no graph of it was launched");
  EXPECT_EQ(
      missing(clean_run()),
      "bucket \"bs=1\": the graph of capture c1 is not compared: no eager step was seen that it replaces");
}

TEST(ComparedReplays, FewStepsOrFewNodesAreNot) {
  Report few = run();
  few.coverage.replay->compared[1].steps = 2;
  EXPECT_EQ(missing(few, {"bs=1"}), "");
  EXPECT_EQ(
      missing(few),
      "bucket \"bs=8\": the graph of capture c2 is not compared: it was compared with 2 eager steps, and "
      "it takes 3");
  Report other = run();
  other.coverage.replay->compared.pop_back();
  other.coverage.replay->not_compared = {
      {"4711:e2", {"c2"}, {"bs=8"}, "the captured path differs (11 of 40 nodes)", "verify it"}};
  EXPECT_EQ(missing(other),
            "bucket \"bs=8\": the graph of capture c2 is not compared: the captured path differs (11 of 40 "
            "nodes)");
}

TEST(ComparedReplays, AVerificationIsMoreThanAComparison) {
  Report report = run();
  report.coverage.replay->compared.pop_back();
  VerifiedReplay verified;
  verified.executable = "4711:e2";
  verified.captures = {"c2"};
  verified.result = ReplayResult::equal;
  report.coverage.replay->verified = {verified};
  EXPECT_EQ(missing(report), "");
}

TEST(ComparedReplays, AreSaidInTheLineBehindAPass) {
  EXPECT_NE(
      what_was_seen(run()).find(". Compared: 2 graphs with 3 eager steps each, 80 of 80 nodes; 380 of 400 "
                                "host values never varied"),
      std::string::npos)
      << what_was_seen(run());
  EXPECT_EQ(what_was_compared(clean_run()), "");
  const Report report = run();
  const auto& gaps = report.coverage.not_checked;
  EXPECT_EQ(
      std::count(gaps.begin(), gaps.end(), "work that the eager step does and the captured step does not"),
      0);
}

TEST(ComparedReplays, TheGateSaysThatItIsTheWeakerForm) {
  GateOptions gate;
  gate.require_compared = true;
  const auto decision = decide(run(), gate, {}, {});
  EXPECT_EQ(decision.exit_code, 0);
  EXPECT_NE(decision.text.find("weaker than --require replay: values were compared, results were not"),
            std::string::npos)
      << decision.text;
  EXPECT_EQ(decide(clean_run(), gate, {}, {}).exit_code, 2);
}

TEST(ComparedReplays, SurviveTheFile) {
  const auto again = from_json(to_json(run()), "report.json");
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(again->coverage.replay, run().coverage.replay);
}

TEST(UnansweredDifferences, AreOneReasonForEachRuleAndGraph) {
  Report report = run();
  for (const char* rule : {"stale-argument", "stale-argument", "missing-work", "host-node"}) {
    Violation& violation = report.violations.emplace_back();
    violation.rule = rule;
    violation.severity = Severity::warning;
    violation.capture = "c1";
    violation.details["bucket"] = "bs=1";
    violation.location.line = static_cast<int>(report.violations.size());
  }
  const auto reasons = unanswered_differences(report);
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_EQ(reasons[0].text,
            "stale-argument: nothing shows that replays are right all the same (bucket \"bs=1\")");
  EXPECT_EQ(reasons[0].remedy,
            "call verify_replay in the audited program for bucket \"bs=1\" (docs/verify.md), then: capgate "
            "audit -- PROGRAM");
  for (auto& violation : report.violations) violation.severity = Severity::note;
  EXPECT_TRUE(unanswered_differences(report).empty());
}

}  // namespace
}  // namespace capgate::reports
