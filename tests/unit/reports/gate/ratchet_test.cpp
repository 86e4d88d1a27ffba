#include "reports/ratchet/ratchet.h"

#include <gtest/gtest.h>

#include "base/exit_code.h"
#include "reports/json/json.h"
#include "reports/terminal/gate_lines.h"
#include "tests/unit/reports/sample.h"

namespace capgate::reports {
namespace {

using testing::clean_run;
using testing::clean_sources;
using testing::failed_run;

Report measured() {
  Report report = clean_run();
  report.metrics = {{"blocked_us_per_step", 12.5}, {"pageable_bytes_per_step", 0}, {"waits_per_step", 1}};
  return report;
}

GateDecision held_to(const Report& report, const Metrics& before) {
  GateOptions gate;
  gate.ratchet = compare_metrics(metrics_of(report), before, "main.json");
  return decide(report, gate, {}, {});
}

TEST(Metrics, CountWhatTheReportHolds) {
  const Report report = failed_run();
  const auto values = metrics_of(report).values;
  EXPECT_EQ(values.at("errors"), static_cast<double>(report.summary.errors));
  EXPECT_EQ(values.at("suppressed"), static_cast<double>(report.summary.suppressed));
  EXPECT_EQ(values.at("captures_failed"), 1);
  EXPECT_EQ(values.at("captures_completed"), 1);
  EXPECT_EQ(values.at("buckets_captured"), 1);
  EXPECT_EQ(values.at("graph_nodes"), 2);
  EXPECT_EQ(values.at("findings.host-sync"), static_cast<double>(report.summary.by_rule.at("host-sync")));
  for (const auto& [name, value] : report.metrics) EXPECT_EQ(values.at(name), value);
}

// Sources alone show no step and no capture: 0 of either would look like an improvement.
TEST(Metrics, OfSourcesHaveNoCaptures) {
  const auto values = metrics_of(clean_sources()).values;
  for (const char* name : {"captures_failed", "buckets_captured", "waits_per_step"})
    EXPECT_FALSE(values.contains(name)) << name;
  EXPECT_EQ(values.at("files_parsed"), 31);
}

TEST(Metrics, AreReadBackAsWritten) {
  Metrics metrics = metrics_of(failed_run());
  metrics.values["waits_per_step"] = 8.333;
  const auto again = metrics_from(to_json(metrics), "m.json");
  ASSERT_TRUE(again.ok()) << again.error();
  EXPECT_EQ(again->values, metrics.values);
  EXPECT_EQ(again->program, "build/decode");
  EXPECT_TRUE(is_metrics(to_json(metrics)));
  EXPECT_FALSE(is_metrics(to_json(failed_run())));
}

TEST(Metrics, AreTakenFromAReportToo) {
  const auto of_report = metrics_from(to_json(failed_run()), "main.json");
  ASSERT_TRUE(of_report.ok()) << of_report.error();
  EXPECT_EQ(of_report->values, metrics_of(failed_run()).values);
}

TEST(Metrics, BadTextIsOneSentence) {
  const std::string head = R"({"schema": "capgate-metrics/1", "program": "p")";
  const std::pair<std::string, std::string> bad[] = {
      {"", "m.json: is neither"},
      {"[1]", "m.json: is neither"},
      {R"({"schema": "other"})", "m.json: is neither"},
      {R"({"schema": "capgate-metrics/2"})", "m.json: is of schema \"capgate-metrics/2\""},
      {head + R"(, "errors": "1"})", "m.json: the key \"errors\" is not a number"},
      {head + R"(, "errors": -1})", "m.json: the key \"errors\" is negative"},
      {head + R"(, "errors": 1e400})", "m.json: "},
      {head + R"(, "errors": {"a": 1}})", "m.json: the key \"errors\" is not a number"},
      {head + R"(, "errors": 1, "errors": 0})", "m.json: the key \"errors\" appears twice"},
      {head + R"(, "errors": 1)", "m.json: is neither"},
      {std::string(100000, '['), "m.json: nested deeper than 64 levels"},
      {R"({"schema": "capgate-report/1"})", "m.json: the key "},
  };
  for (const auto& [text, part] : bad) {
    const auto read = metrics_from(text, "m.json");
    ASSERT_FALSE(read.ok()) << text.substr(0, 60);
    EXPECT_NE(read.error().find(part), std::string::npos) << read.error();
    EXPECT_EQ(read.error().find('\n'), std::string::npos);
  }
}

TEST(Ratchet, WhatIsEqualOrBetterPasses) {
  Metrics before = metrics_of(measured());
  EXPECT_EQ(held_to(measured(), before).exit_code, kExitPass);
  before.values["waits_per_step"] += 1;
  const GateDecision better = held_to(measured(), before);
  EXPECT_EQ(better.exit_code, kExitPass);
  EXPECT_NE(better.text.find("no number worse than in main.json"), std::string::npos) << better.text;
}

TEST(Ratchet, WhatIsWorseFailsAPassAndIsNamed) {
  Report report = measured();
  const Metrics before = metrics_of(report);
  report.metrics["waits_per_step"] = before.values.at("waits_per_step") + 2.5;
  const GateDecision worse = held_to(report, before);
  EXPECT_EQ(worse.exit_code, kExitFail);
  EXPECT_EQ(worse.text.rfind("gate: fail - 1 number worse than in main.json\nworse than main.json:\n", 0), 0u)
      << worse.text;
  EXPECT_NE(worse.text.find("  waits_per_step: 1 there, 3.5 here\n"), std::string::npos) << worse.text;
}

// A bucket that is no longer captured leaves fewer waits behind, and is no improvement.
TEST(Ratchet, FewerBucketsAreWorse) {
  Report report = measured();
  const Metrics before = metrics_of(report);
  report.captures.pop_back();
  EXPECT_EQ(held_to(report, before).exit_code, kExitFail);
  EXPECT_NE(held_to(report, before).text.find("  buckets_captured: 2 there, 1 here\n"), std::string::npos);
}

TEST(Ratchet, TimesAreNotHeld) {
  Report report = measured();
  const Metrics before = metrics_of(report);
  report.metrics["blocked_us_per_step"] = 1e6;
  EXPECT_EQ(held_to(report, before).exit_code, kExitPass);
}

TEST(Ratchet, MakesNoFailAPass) {
  const Report report = failed_run();
  Metrics before = metrics_of(report);
  before.values["errors"] = 100;
  EXPECT_EQ(held_to(report, before).exit_code, kExitFail);
}

// Without the number nothing shows that it is no worse.
TEST(Ratchet, ALostNumberIsInconclusiveAndANewOneIsSaid) {
  Report report = measured();
  const Metrics whole = metrics_of(report);
  report.metrics.erase("waits_per_step");
  const GateDecision lost = held_to(report, whole);
  EXPECT_EQ(lost.exit_code, kExitInconclusive);
  EXPECT_NE(lost.text.find("only in main.json: waits_per_step\n"), std::string::npos) << lost.text;
  Metrics older = whole;
  older.values.erase("waits_per_step");
  const GateDecision added = held_to(measured(), older);
  EXPECT_EQ(added.exit_code, kExitPass);
  EXPECT_NE(added.text.find("not in main.json, so not compared: waits_per_step\n"), std::string::npos)
      << added.text;
}

TEST(Ratchet, SaysThatTheNumbersAreOfAnotherProgram) {
  Metrics before = metrics_of(measured());
  before.program = "/elsewhere/build/decode";
  EXPECT_EQ(held_to(measured(), before).text.find("another program"), std::string::npos);
  before.program = "build/prefill";
  EXPECT_NE(held_to(measured(), before).text.find("those of another program, build/prefill\n"),
            std::string::npos);
}

}  // namespace
}  // namespace capgate::reports
