// What a gate that demands verified replays takes, and what a report says of them.
#include "reports/verdict/verified.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "reports/files/report_file.h"
#include "reports/gate/gate.h"
#include "reports/json/json.h"
#include "reports/merge/merge.h"
#include "reports/terminal/gate_lines.h"
#include "reports/verdict/claims.h"
#include "reports/verdict/finish.h"
#include "reports/verdict/watched.h"
#include "tests/unit/reports/sample.h"

namespace capgate::reports {
namespace {

using testing::clean_run;

VerifiedReplay verified(const std::string& executable, const std::string& bucket) {
  VerifiedReplay out;
  out.name = "decode " + bucket;
  out.executable = executable;
  out.captures = {bucket == "bs=1" ? "c1" : "c2"};
  out.buckets = {bucket};
  out.input_sets = 3;
  out.steps = 4;
  out.refilled_bytes = 4096;
  out.noise = 0.5;
  out.outputs = {"logits"};
  out.result = ReplayResult::equal;
  return out;
}

// Both graphs of the sample are verified.
Report run() {
  Report report = clean_run();
  report.coverage.replay->verified = {verified("4711:e1", "bs=1"), verified("4711:e2", "bs=8")};
  finish(report);
  return report;
}

// The second one is not.
Report half() {
  Report report = run();
  auto& replay = *report.coverage.replay;
  replay.verified.pop_back();
  replay.not_verified = {{"4711:e2", {"c2"}, {"bs=8"}, 80, "no verification launched it"}};
  finish(report);
  return report;
}

std::string missing(const Report& report, const std::vector<std::string>& buckets = {}) {
  const auto reason = missing_verification(report, buckets);
  if (reason) {
    EXPECT_FALSE(reason->remedy.empty());
  }
  return reason ? reason->text : "";
}

TEST(VerifiedReplays, OfAllGraphsOpenTheGate) {
  EXPECT_EQ(missing(run()), "");
  EXPECT_EQ(missing(run(), {"bs=1"}), "");
  EXPECT_EQ(missing(run(), {"bs=1", "bs=8"}), "");
}

TEST(VerifiedReplays, WithoutOneItStaysClosed) {
  EXPECT_EQ(missing(clean_run()), "no replay was compared with an eager step");
  Report older = clean_run();
  older.coverage.replay.reset();
  EXPECT_EQ(missing(older), "no replay was compared with an eager step");
}

TEST(VerifiedReplays, EachGraphOfTheBucketsMustBe) {
  const std::string why =
      "the executable graph 4711:e2 was launched 80 times and is not verified: no verification launched it";
  EXPECT_EQ(missing(half()), why);
  EXPECT_EQ(missing(half(), {"bs=1"}), "");
  EXPECT_EQ(missing(half(), {"bs=1", "bs=8"}), "bucket \"bs=8\": " + why);
  EXPECT_EQ(missing(run(), {"bs=16"}), "bucket \"bs=16\": no executable graph was verified");
}

TEST(VerifiedReplays, OneMustRunAgainAfterFreeMemoryWasFilled) {
  Report report = run();
  report.coverage.replay->verified[1].refilled_bytes = 0;
  EXPECT_EQ(missing(report),
            "verification \"decode bs=8\" is not enough: it did not run again after free memory was filled");
  EXPECT_EQ(missing(report, {"bs=1"}), "");
  // Another one of the same graph makes up for it.
  report.coverage.replay->verified.push_back(verified("4711:e2", "bs=8"));
  EXPECT_EQ(missing(report), "");
}

TEST(VerifiedReplays, AnEditedReportDoesNotOpenIt) {
  const auto with = [](auto change) {
    Report report = run();
    change(report.coverage.replay->verified[0]);
    return missing(report);
  };
  EXPECT_NE(with([](VerifiedReplay& v) { v.input_sets = 1; }), "");
  EXPECT_NE(with([](VerifiedReplay& v) { v.steps = 2; }), "");
  EXPECT_NE(with([](VerifiedReplay& v) { v.unvaried = v.outputs; }), "");
  EXPECT_NE(with([](VerifiedReplay& v) { v.outputs.clear(); }), "");
}

TEST(VerifiedReplays, WhatDiffersOrIsNotCountedIsNone) {
  for (const auto result : {ReplayResult::differs, ReplayResult::not_counted}) {
    Report report = run();
    report.coverage.replay->verified[0].result = result;
    EXPECT_EQ(missing(report, {"bs=1"}), "bucket \"bs=1\": no executable graph was verified");
  }
}

TEST(VerifiedReplays, MemoryMustBeWatchedBlockByBlock) {
  Report report = run();
  report.coverage.replay->memory_watched = MemoryWatched::segments;
  report.coverage.replay->allocators_not_seen = {"CuPy"};
  EXPECT_EQ(missing(report),
            "the memory of the graphs was not watched block by block: the blocks of CuPy were not seen");
  const auto to_do = [&](std::vector<std::string> allocators) {
    report.coverage.replay->allocators_not_seen = std::move(allocators);
    return missing_verification(report, {})->remedy;
  };
  EXPECT_TRUE(to_do({"CuPy", "RMM"}).starts_with("audit a process that does not import CuPy or RMM"));
  EXPECT_TRUE(to_do({"CuPy", "PyTorch"}).starts_with("capgate audit --trace DIR"));
  report.coverage.replay->memory_watched = MemoryWatched::no;
  EXPECT_NE(missing(report), "");
}

TEST(VerifiedReplays, NoRecordMayBeLost) {
  Report report = run();
  report.coverage.replay->records_lost = 1;
  EXPECT_EQ(missing(report), "1 record found no room in the trace");
  report = run();
  report.coverage.processes.at(0).events_dropped = 3;
  EXPECT_EQ(missing(report), "3 records found no room in the trace");
}

TEST(VerifiedReplays, ThePassSaysWhatWasVerified) {
  EXPECT_EQ(what_was_verified(run()),
            "2 graphs gave the eager results for 3 input sets over 4 steps each, again after free memory was "
            "filled");
  EXPECT_EQ(what_was_verified(clean_run()), "");
  EXPECT_EQ(what_was_verified(half()),
            "1 graph gave the eager results for 3 input sets over 4 steps, again after free memory was "
            "filled; 1 graph "
            "is not verified");
  Report report = half();
  report.coverage.replay->verified[0].result = ReplayResult::not_counted;
  report.coverage.replay->verified[0].why = "it did not end";
  EXPECT_EQ(what_was_verified(report),
            "1 graph is not verified; verification \"decode bs=1\" does not count: it did not end");
}

TEST(VerifiedReplays, TheSecondLineOfAPassEndsWithIt) {
  EXPECT_EQ(
      what_was_seen(run()),
      ". Watched: memory of 2 graphs at 160 launches, block by block. Verified: " + what_was_verified(run()));
  EXPECT_EQ(what_was_seen(clean_run()), ". Watched: memory of 2 graphs at 160 launches, block by block");
  const auto text = render_headline(run(), {});
  EXPECT_NE(
      text.find(
          "not proved: that replays are right for other inputs than those that were verified. Watched: "),
      std::string::npos)
      << text;
}

TEST(VerifiedReplays, TheGapIsClosedOnlyByAll) {
  const auto gaps = [](const Report& report) {
    const auto& list = report.coverage.not_checked;
    return std::count(list.begin(), list.end(), "replays: their results were compared with no eager step");
  };
  EXPECT_EQ(gaps(run()), 0);
  EXPECT_EQ(gaps(half()), 1);
  EXPECT_EQ(gaps(clean_run()), 1);
  EXPECT_NE(what_was_not_proved(half()).text.find("verify_replay"), std::string::npos);
}

TEST(VerifiedReplays, AreWrittenAndReadAlike) {
  const Report report = half();
  const auto again = from_json(to_json(report), "M.json");
  ASSERT_TRUE(again.ok()) << again.error();
  EXPECT_EQ(again->coverage.replay, report.coverage.replay);
}

TEST(VerifiedReplays, ARunWithoutOneLeavesItsGraphsUnverifiedInAMerge) {
  Report other = clean_run();
  other.captures[0].id = "x1";
  other.captures[1].id = "x2";
  const auto both = merge({{run(), "a", "1"}, {other, "b", "2"}}, "0.1.0");
  ASSERT_TRUE(both.ok()) << both.error();
  EXPECT_NE(missing(*both).find("of another run"), std::string::npos) << missing(*both);
  EXPECT_NE(missing(*both, {"bs=8"}), "");
  EXPECT_NE(missing(*both).find("its run has no verification"), std::string::npos);
}

TEST(VerifiedReplays, ExecutablesOfTwoRunsAreKeptApart) {
  const auto both = merge({{run(), "a", "1"}, {run(), "b", "2"}}, "0.1.0");
  ASSERT_TRUE(both.ok()) << both.error();
  const auto& all = both->coverage.replay->verified;
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].executable, "4711:e1");
  EXPECT_EQ(all[2].executable, "2:4711:e1");
  EXPECT_EQ(all[2].captures, std::vector<std::string>{"2:c1"});
  EXPECT_EQ(missing(*both), "");
}

TEST(VerifiedReplays, TheCommandSaysWhichAndWhatToDo) {
  GateOptions gate;
  gate.require_replay = true;
  EXPECT_EQ(decide(run(), gate, {}, {}).exit_code, 0);
  const auto closed = decide(half(), gate, {}, {});
  EXPECT_EQ(closed.exit_code, 2);
  EXPECT_EQ(closed.text.rfind("gate: inconclusive - ", 0), 0u) << closed.text;
  EXPECT_NE(closed.text.find("4711:e2 was launched 80 times and is not verified"), std::string::npos);
  EXPECT_NE(closed.text.find("  to do: "), std::string::npos);
  gate.buckets = {"bs=1"};
  EXPECT_EQ(decide(half(), gate, {}, {}).exit_code, 0);
  gate.require_replay = false;
  EXPECT_EQ(decide(clean_run(), gate, {}, {}).exit_code, 0) << "nobody asked";
}

TEST(VerifiedReplays, AnErrorOutranksWhatIsMissing) {
  Report report = half();
  report.violations = {testing::violation("host-sync", "a.cpp", 1, "f")};
  finish(report);
  GateOptions gate;
  gate.require_replay = true;
  EXPECT_EQ(decide(report, gate, {}, {}).exit_code, 1);
}

TEST(VerifiedReplays, AnEnginesGateDemandsThemToo) {
  const std::string path = ::testing::TempDir() + "/verified_gate.json";
  gate::Subject self;
  self.build_id = clean_run().subject.build_id;
  self.buckets = {"bs=1", "bs=8"};
  gate::Demands demands;
  demands.static_evidence = false;
  demands.verified_replays = true;
  const auto ask = [&](const Report& report) {
    EXPECT_TRUE(write_report(report, path).ok());
    return gate::check(path, self, demands);
  };
  EXPECT_TRUE(ask(run()).open()) << ask(run()).sentence;
  const auto closed = ask(half());
  EXPECT_STREQ(gate::name(closed.refusal), "not-verified");
  EXPECT_NE(closed.sentence.find("does not show that replays are right, because bucket \"bs=8\": "),
            std::string::npos)
      << closed.sentence;
  EXPECT_NE(closed.sentence.find("; to do: call verify_replay"), std::string::npos);
  demands.verified_replays = false;
  EXPECT_TRUE(ask(half()).open());
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace capgate::reports
