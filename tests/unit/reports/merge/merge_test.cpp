#include "reports/merge/merge.h"

#include <gtest/gtest.h>

#include "reports/identity/source_path.h"
#include "reports/json/json.h"
#include "reports/verdict/finish.h"
#include "tests/unit/reports/golden.h"
#include "tests/unit/reports/merge/inputs.h"
#include "tests/unit/reports/sample.h"

namespace capgate::reports {
namespace {

using testing::adding;
using testing::clean_run;
using testing::clean_sources;
using testing::failed_run;
using testing::input;
using testing::merged;
using testing::violation;

TEST(Merge, MakesOneCleanReportOfRunAndSources) {
  const Report report =
      merged({input(clean_sources(), "lint.json", '2'), input(clean_run(), "run.json", '1')});
  testing::expect_golden("merged_clean.json", to_json(report));
  EXPECT_EQ(report.verdict, Verdict::pass);
  ASSERT_EQ(report.inputs.size(), 2u);
  EXPECT_EQ(report.inputs[0].component, Component::detector);
  EXPECT_EQ(report.inputs[1].component, Component::static_checks);
}

TEST(Merge, DoesNotDependOnTheOrderOfItsInputs) {
  const auto a = input(failed_run(), "a", '1'), b = input(clean_run(), "b", '2'),
             c = input(clean_sources(), "c", '3');
  const std::string text = to_json(merged({a, b, c}));
  EXPECT_EQ(text, to_json(merged({c, b, a})));
  EXPECT_EQ(text, to_json(merged({b, c, a, a})));
}

TEST(Merge, WhatWasWatchedTheLeastDecides) {
  Report one = clean_run(), other = clean_run();
  other.coverage.replay = ReplayCoverage{1, 3, MemoryWatched::segments, {"PyTorch"}};
  const Report report = merged({input(one, "a", '1'), input(other, "b", '2')});
  EXPECT_EQ(report.coverage.replay, (ReplayCoverage{3, 163, MemoryWatched::segments, {"PyTorch"}}));
  const Report with_sources = merged({input(one, "a", '1'), input(clean_sources(), "b", '2')});
  EXPECT_EQ(with_sources.coverage.replay, one.coverage.replay);
}

TEST(Merge, DropsNotesOnSuppressionsThatAnotherReportUsed) {
  Violation used = violation("host-sync", "a.cpp", 12, "f", "c");
  used.suppressed = Suppressed{"why", "s.supp:1"};
  Violation note = violation("unused-suppression", "s.supp", 1, "", "", Evidence::sources);
  note.severity = Severity::note;
  note.details["suppression"] = "s.supp:1";
  const Report report = merged(
      {input(adding(clean_run(), {used}), "r", '1'), input(adding(clean_sources(), {note}), "s", '2')});
  EXPECT_EQ(report.violations.size(), 1u);
}

TEST(Merge, RefusesReportsOfDifferentPrograms) {
  const std::pair<const char*, void (*)(Report&)> edits[] = {
      {"build", [](Report& r) { r.subject.build_id = "beef"; }},
      {"source digest", [](Report& r) { r.subject.source_digest = "beef"; }},
      {"code digest", [](Report& r) { r.subject.code_digest = "beef"; }},
      {"config", [](Report& r) { r.subject.config_digest = "beef"; }},
      {"mode", [](Report& r) { r.subject.mode = "beef"; }},
      {"GPU architecture", [](Report& r) { r.subject.sm = "beef"; }},
      {"driver branch", [](Report& r) { r.subject.driver_branch = "beef"; }},
      {"a number of GPUs", [](Report& r) { r.subject.devices = 4; }},
      {"program", [](Report& r) { r.subject.program = "/bin/beef"; }},
  };
  for (const auto& [what, edit] : edits) {
    Report other = clean_run();
    edit(other);
    const auto report = merge({input(clean_run(), "a.json", '1'), input(other, "b.json", '2')}, "0.1.0");
    ASSERT_FALSE(report.ok()) << what;
    EXPECT_EQ(report.error().rfind("cannot merge: a.json is about " + std::string(what), 0), 0u)
        << report.error();
    EXPECT_NE(report.error().find("b.json"), std::string::npos);
  }
  // Also between two that the first says nothing about.
  Report silent = clean_sources(), one = clean_run(), two = clean_run();
  silent.subject = {};
  two.subject.build_id = "beef";
  EXPECT_FALSE(merge({input(silent, "s", '1'), input(one, "a", '2'), input(two, "b", '3')}, "0").ok());
}

TEST(Merge, IsInconclusiveIfOneInputIs) {
  Report dropped = clean_run();
  dropped.reasons = {{"events were dropped", "again"}};
  finish(dropped);
  const Report report = merged({input(dropped, "r", '1'), input(clean_sources(), "s", '2')});
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  // Even one that does not say why.
  Report mute = clean_run();
  mute.verdict = Verdict::inconclusive;
  EXPECT_EQ(merged({input(mute, "r", '1'), input(clean_sources(), "s", '2')}).verdict, Verdict::inconclusive);
}

TEST(Merge, KeepsTheInputsOfAMerge) {
  const Report first = merged({input(clean_run(), "r", '1'), input(clean_sources(), "s", '2')});
  Report engine = clean_sources();
  engine.tool.component = Component::engine;
  const Report second = merged({input(first, "m", '3'), input(engine, "e", '4')});
  ASSERT_EQ(second.inputs.size(), 3u);
  EXPECT_FALSE(merge({}, "0").ok());
}

}  // namespace
}  // namespace capgate::reports
