#include "reports/verdict/causes.h"

#include <gtest/gtest.h>

#include "reports/json/json.h"
#include "reports/merge/merge.h"
#include "reports/model/names.h"
#include "reports/verdict/contradiction.h"
#include "reports/verdict/finish.h"
#include "tests/unit/reports/sample.h"

namespace capgate::reports {
namespace {

using testing::clean_run;
using testing::clean_sources;
using testing::violation;

Violation named(std::string id, std::string rule, int line, std::optional<std::string> symptom_of = {}) {
  Violation fault = violation(std::move(rule), "a.cpp", line, "f");
  fault.id = std::move(id);
  fault.symptom_of = std::move(symptom_of);
  return fault;
}

Report made_of(std::vector<Violation> violations, Report report = clean_run()) {
  report.violations = std::move(violations);
  finish(report);
  return report;
}

// "12<-10" for a symptom at line 12 of a cause at line 10, "10" for one that counts by itself; in order.
std::string causes_told(const Report& report) {
  const Causes causes(report);
  std::string out;
  for (const auto& fault : report.violations) {
    out += (out.empty() ? "" : " ") + std::to_string(fault.location.line);
    if (const Violation* cause = causes.cause_of(fault)) out += "<-" + std::to_string(cause->location.line);
  }
  return out;
}

TEST(Causes, AreCountedAndTheirSymptomsStandBehindThem) {
  const Report report =
      made_of({named("branch", "host-branch", 30, "wait"), named("other", "device-alloc", 20),
               named("wait", "host-sync", 12), named("copy", "pageable-copy", 11, "wait")});
  EXPECT_EQ(causes_told(report), "12 11<-12 30<-12 20");
  EXPECT_EQ(report.summary.errors, 2u);
  EXPECT_EQ(report.summary.symptoms, 2u);
  EXPECT_EQ(report.summary.by_rule.at("host-branch"), 1u);
  EXPECT_EQ(report.verdict, Verdict::fail);
  EXPECT_EQ(contradiction(report), std::nullopt);
  EXPECT_EQ(*report.violations[1].symptom_of, report.violations[0].id);
  EXPECT_EQ(Causes(report).symptoms_of(report.violations[0]).size(), 2u);
}

TEST(Causes, FollowAChainToItsBeginning) {
  EXPECT_EQ(causes_told(made_of({named("c", "host-branch", 30, "b"), named("b", "pageable-copy", 20, "a"),
                                 named("a", "host-sync", 10)})),
            "10 20<-10 30<-10");
}

TEST(Causes, ASuppressedOneHidesNothing) {
  Violation allowed = named("wait", "host-sync", 10);
  allowed.suppressed = Suppressed{"meant", "a.cpp:9"};
  const Report report = made_of({allowed, named("branch", "host-branch", 12, "wait")});
  EXPECT_EQ(causes_told(report), "12 10");
  EXPECT_EQ(report.violations[0].symptom_of, std::nullopt);
  EXPECT_EQ(report.summary.errors, 1u);
  EXPECT_EQ(report.summary.suppressed, 1u);
  EXPECT_EQ(report.verdict, Verdict::fail);
}

TEST(Causes, ASuppressedSymptomIsSuppressed) {
  Violation allowed = named("branch", "host-branch", 12, "wait");
  allowed.suppressed = Suppressed{"meant", "a.cpp:11"};
  const Report report = made_of({named("wait", "host-sync", 10), allowed});
  EXPECT_EQ(report.summary.suppressed, 1u);
  EXPECT_EQ(report.summary.symptoms, 0u);
}

TEST(Causes, ALessGraveOneHidesNothing) {
  Violation note = named("wait", "host-sync", 10);
  note.severity = Severity::note;
  const Report report = made_of({note, named("branch", "host-branch", 12, "wait")});
  EXPECT_EQ(causes_told(report), "12 10");
  EXPECT_EQ(report.verdict, Verdict::fail);
  EXPECT_EQ(report.summary.errors, 1u);
}

TEST(Causes, ThatAreNotInTheReportAreForgotten) {
  const Report report =
      made_of({named("branch", "host-branch", 12, "gone"), named("self", "host-sync", 13, "self")});
  EXPECT_EQ(report.summary.errors, 2u);
  for (const auto& fault : report.violations) EXPECT_EQ(fault.symptom_of, std::nullopt);
}

// Of a circle one is the cause, the same whatever the order.
TEST(Causes, OfACircleAreOne) {
  const Violation a = named("a", "host-sync", 10, "b"), b = named("b", "host-branch", 12, "a"),
                  c = named("c", "device-sized", 14, "b");
  const Report one = made_of({a, b, c}), other = made_of({c, b, a});
  EXPECT_EQ(one.summary.errors, 1u);
  EXPECT_EQ(one.summary.symptoms, 2u);
  EXPECT_EQ(causes_told(one), causes_told(other));
}

TEST(Causes, StayWhenTheReportIsFinishedOrReadAgain) {
  Report report = made_of({named("wait", "host-sync", 10), named("branch", "host-branch", 12, "wait")});
  finish(report);
  EXPECT_EQ(causes_told(report), "10 12<-10");
  const auto again = from_json(to_json(report), "M.json");
  ASSERT_TRUE(again.ok()) << again.error();
  EXPECT_EQ(causes_told(*again), "10 12<-10");
  EXPECT_EQ(contradiction(*again), std::nullopt);
  EXPECT_EQ(to_json(*again), to_json(report));
}

// A report that somebody edited to hide an error under one that is not there.
TEST(Causes, AReportThatHidesAnErrorContradictsItself) {
  Report report = made_of({named("wait", "host-sync", 10), named("branch", "host-branch", 12)});
  report.violations[1].symptom_of = std::string(16, '0');
  EXPECT_EQ(contradiction(report), std::nullopt);
  report.violations[1].symptom_of = report.violations[0].id;
  ASSERT_TRUE(contradiction(report));
  EXPECT_NE(contradiction(report)->find("its summary counts 2 errors"), std::string::npos)
      << *contradiction(report);
}

// The audit sees the copy and the wait, the sources the wait and the branch: one cause.
TEST(Causes, OfTwoReportsAreOneInTheMerged) {
  Violation wait = named("#0", "host-sync", 12), copy = named("#1", "pageable-copy", 11, "#0");
  wait.api = "cudaStreamSynchronize";
  Violation seen = violation("host-sync", "a.cpp", 12, "f", "cudaStreamSynchronize", Evidence::sources);
  seen.id = "#0";
  Violation branch = violation("host-branch", "a.cpp", 14, "f", "", Evidence::sources);
  branch.id = "#1";
  branch.symptom_of = "#0";
  for (const bool swapped : {false, true}) {
    MergeInput run{made_of({wait, copy}), "r", std::string(64, swapped ? '2' : '1')};
    MergeInput sources{made_of({seen, branch}, clean_sources()), "s", std::string(64, swapped ? '1' : '2')};
    const auto merged = merge({run, sources}, "0.1.0");
    ASSERT_TRUE(merged.ok()) << merged.error();
    EXPECT_EQ(causes_told(*merged), "12 11<-12 14<-12");
    EXPECT_EQ(merged->summary.errors, 1u);
    EXPECT_EQ(merged->summary.symptoms, 2u);
  }
}

TEST(Causes, AreOrderedByWhatKillsThenByWhatAStepLoses) {
  const auto costing = [](int line, double blocked_us, double count) {
    Violation fault = named("", "host-sync", line);
    fault.phase = Phase::step;
    fault.per_step = PerStep{4, count, blocked_us, {{1, "warm-up"}}};
    if (blocked_us == 0) fault.per_step->blocked_us.reset();
    return fault;
  };
  Violation killer = named("", "unjoined-stream", 50);
  killer.details["consequence"] = "killed capture 1 of s1";
  Violation refused = named("", "wrong-device", 60);  // seen in a capture, which goes before what would be
  refused.result = "cudaErrorInvalidResourceHandle (400)";
  EXPECT_EQ(causes_told(made_of({costing(1, 32, 1), costing(2, 2083, 16), costing(3, 0, 40), costing(4, 0, 2),
                                 refused, killer})),
            "50 60 2 1 3 4");
}

// What the symptoms block is lost to the cause.
TEST(Causes, AreAsHeavyAsAllThatFollows) {
  Violation wait = named("wait", "host-sync", 10), copy = named("copy", "pageable-copy", 9, "wait"),
            other = named("other", "host-sync", 5);
  wait.per_step = PerStep{2, 1, 5.0, {}};
  copy.per_step = PerStep{2, 1, 20.0, {}};
  other.per_step = PerStep{2, 1, 12.0, {}};
  const Report report = made_of({other, copy, wait});
  EXPECT_EQ(causes_told(report), "10 9<-10 5");
  EXPECT_EQ(Causes(report).blocked_us_per_step(report.violations[0]), 25);
}

// What comes back in each step outranks one wait of about the same length.
TEST(Causes, ThatAStepRepeatsGoBeforeOneOfTheSameSize) {
  const auto costing = [](int line, double blocked_us, double count) {
    Violation fault = named("", "host-sync", line);
    fault.per_step = PerStep{4, count, blocked_us, {}};
    return fault;
  };
  EXPECT_EQ(causes_told(made_of({costing(1, 63, 1), costing(2, 46, 8)})), "2 1");
  EXPECT_EQ(causes_told(made_of({costing(1, 630, 1), costing(2, 46, 8)})), "1 2")
      << "not one that is much longer";
}

Violation in_expert_loop(int line, double blocked_us, const char* function = "Experts.forward") {
  Violation wait =
      violation("host-sync", "transformers/models/x/modeling_x.py", line, function, "cudaStreamSynchronize");
  wait.phase = Phase::step;
  wait.details["copy"] = "8 bytes from the device (cudaMemcpyAsync)";
  wait.details["region"] = "decode-step";
  wait.per_step = PerStep{3, 8, blocked_us, {}};
  wait.stacks = {{StackRole::call,
                  {{FrameLanguage::python, "transformers/models/x/modeling_x.py", line, function, "", false},
                   {FrameLanguage::python, "transformers/integrations/moe.py", 9, "forward", "", false}}}};
  return wait;
}

// The fix replaces the function: its waits are one thing to change, at the line where the loop begins.
TEST(Causes, OfAFunctionThatTheFixReplacesAreOne) {
  Violation allowed = in_expert_loop(1009, 9);
  allowed.suppressed = Suppressed{"meant", "x.py:1009"};
  const Report report =
      made_of({in_expert_loop(1008, 671), in_expert_loop(1003, 190), in_expert_loop(1006, 645),
               in_expert_loop(20, 5, "Router.forward"), allowed});
  EXPECT_EQ(report.violations[0].situation, "host-sync.expert-loop");
  EXPECT_EQ(causes_told(report), "1003 1008<-1003 1006<-1003 20 1009");
  EXPECT_EQ(report.summary.errors, 2u);
  EXPECT_EQ(report.summary.symptoms, 2u);
  Report again = report;
  finish(again);
  EXPECT_EQ(to_json(again), to_json(report));
}

// The sources show the use, the run the wait that brings the value: lint need not have found that wait.
TEST(Causes, OfAUseInTheSourcesIsTheWaitThatTheRunSaw) {
  Violation wait = named("#0", "host-sync", 12);
  wait.api = "cudaStreamSynchronize";
  Violation branch = violation("host-branch", "a.cpp", 20, "f", "", Evidence::sources);
  branch.flow = {{"a.cpp", 12, "read back"}, {"a.cpp", 20, "decides"}};
  Violation elsewhere = violation("host-branch", "a.cpp", 30, "g", "", Evidence::sources);
  elsewhere.flow = {{"a.cpp", 13, "read back"}, {"a.cpp", 30, "decides"}};
  const auto merged = merge({{made_of({wait}), "r", std::string(64, '1')},
                             {made_of({branch, elsewhere}, clean_sources()), "s", std::string(64, '2')}},
                            "0.1.0");
  ASSERT_TRUE(merged.ok()) << merged.error();
  EXPECT_EQ(causes_told(*merged), "12 20<-12 30");
}

TEST(PerStepCost, OfTwoRanksIsTheirMean) {
  Violation one = named("", "host-sync", 10), other = one;
  one.per_step = PerStep{3, 8, 50.0, {{1, "warm-up"}}};
  other.per_step = PerStep{1, 4, 10.0, {{1, "warm-up"}, {2, "not finished"}}};
  const auto merged = merge(
      {{made_of({one}), "a", std::string(64, '1')}, {made_of({other}), "b", std::string(64, '2')}}, "1");
  ASSERT_TRUE(merged.ok()) << merged.error();
  ASSERT_EQ(merged->violations.size(), 1u);
  const auto again = from_json(to_json(*merged), "M.json");
  ASSERT_TRUE(again.ok()) << again.error();
  const PerStep& cost = *again->violations[0].per_step;
  EXPECT_EQ(cost.steps, 4u);
  EXPECT_EQ(cost.count, 7);
  EXPECT_EQ(cost.blocked_us, 40);
  ASSERT_EQ(cost.left_out.size(), 2u);
  EXPECT_EQ(cost.left_out[0].steps, 2u);
  EXPECT_EQ(cost.left_out[1].why, "not finished");
}

TEST(CaptureName, IsTheSameWhereverACaptureIsNamed) {
  Capture capture;
  capture.id = "843:1";
  capture.stream = "s1";
  EXPECT_EQ(capture_name(capture), "capture 1 of s1");
  capture.id = "2:843:7";
  EXPECT_EQ(capture_name(capture), "capture 7 of s1");
  capture.bucket = "decode bs=8";
  EXPECT_EQ(capture_name(capture), "capture \"decode bs=8\"");
}

}  // namespace
}  // namespace capgate::reports
