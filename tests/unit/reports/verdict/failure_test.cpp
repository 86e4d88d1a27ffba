// Which kind of failure a report tells of: by what became of the capture, and else by what the rule says of
// one.
#include "reports/verdict/failure.h"

#include <gtest/gtest.h>

#include "reports/catalogue/catalogue.h"
#include "reports/verdict/finish.h"
#include "tests/unit/reports/sample.h"

namespace capgate::reports {
namespace {

using testing::clean_run;
using testing::failed_run;
using testing::violation;

Violation in_capture(const std::string& rule, const std::string& capture, const std::string& result) {
  Violation fault = violation(rule, "step.cu", 7, "step", "cudaSomething");
  fault.capture = capture;
  fault.result = result;
  return fault;
}

Report failed_with(std::vector<Violation> faults) {
  Report report = clean_run();
  report.captures[1].result = "failed:cudaErrorStreamCaptureInvalidated";
  report.violations = std::move(faults);
  finish(report);
  return report;
}

std::string told(const Report& report) {
  const auto failure = failure_of(report);
  return failure ? failure_text(*failure, "step.cu:7") : "";
}

TEST(Failure, LaunchesHaveTheFaultOfTheirGraph) {
  const Violation lacks = in_capture("sync-copy", "c1", "cudaSuccess");
  EXPECT_EQ(wrong_launches(lacks, 1), "the one launch of the graph lacks the copy or memset");
  EXPECT_EQ(wrong_launches(lacks, 3000), "all 3,000 launches of the graph lack the copy or memset");
  EXPECT_EQ(wrong_launches(in_capture("pageable-copy", "c1", "cudaSuccess"), 2),
            "all 2 launches of the graph hold the address of pageable host memory");
}

TEST(Failure, ARefusedCallInADeadCaptureKilledIt) {
  EXPECT_EQ(told(failed_with({in_capture("host-sync", "c2", "cudaErrorStreamCaptureUnsupported (900)")})),
            "CAPTURE DIES at step.cu:7");
  // By rule a graph of it is wrong; here CUDA refused it.
  EXPECT_EQ(told(failed_with({in_capture("default-stream", "c2", "cudaErrorStreamCaptureImplicit (906)")})),
            "CAPTURE DIES at step.cu:7");
  // The end of the capture is what CUDA refused, not the call that is named.
  EXPECT_EQ(told(failed_with({in_capture("unjoined-stream", "c2", "cudaSuccess")})),
            "CAPTURE DIES at step.cu:7");
}

TEST(Failure, AnErrorInACompletedCaptureIsAWrongGraph) {
  EXPECT_EQ(told(failed_with({in_capture("sync-copy", "c1", "cudaSuccess")})),
            "GRAPH IS WRONG: it captures, but lacks the copy or memset, at step.cu:7");
  // Refused, and the capture went on without it.
  EXPECT_EQ(told(failed_with({in_capture("wrong-device", "c1", "cudaErrorInvalidResourceHandle (400)")})),
            "GRAPH IS WRONG: it captures, but lacks a kernel: its function was of another device, "
            "at step.cu:7");
  // By rule a capture of it dies; this one did not.
  EXPECT_EQ(told(failed_with({in_capture("host-sync", "c1", "cudaSuccess")})),
            "GRAPH IS WRONG: it captures, but lacks the wait, at step.cu:7");
}

TEST(Failure, WhatNoCaptureHasShownWouldHappen) {
  Violation wait = violation("host-sync", "step.cu", 7, "step", "cudaStreamSynchronize");
  wait.phase = Phase::step;
  EXPECT_EQ(told(failed_with({wait})), "A CAPTURE WOULD DIE at step.cu:7");
  Violation branch = violation("host-branch", "step.cu", 7, "step", "", Evidence::sources);
  branch.phase = Phase::source;
  EXPECT_EQ(
      told(failed_with({branch})),
      "A REPLAY WOULD BE WRONG: a graph of this step would hold the side of the branch that the host took "
      "during the "
      "capture, at step.cu:7");
  // The memory may live as long as the graph.
  Violation copy = violation("pageable-copy", "step.cu", 7, "step", "cudaMemcpyAsync");
  copy.phase = Phase::step;
  EXPECT_EQ(
      told(failed_with({copy})),
      "A REPLAY COULD BE WRONG: a graph of this step would hold the address of pageable host memory, at "
      "step.cu:7");
  // torch refuses that copy before CUDA is asked.
  copy.details = {{"direction", "host to device"}, {"in a capture", "refused by torch"}, {"region", "step"}};
  EXPECT_EQ(told(failed_with({copy})), "A CAPTURE WOULD DIE at step.cu:7");
  EXPECT_EQ(failure_text({FailureKind::capture_dies, true, nullptr}, ""), "CAPTURE DIES");
}

// Which of several a capture meets first is not known.
TEST(Failure, OneOfSeveralThatACaptureWouldDieOfIsNotSaidToBeTheOnlyOne) {
  Violation wait = violation("host-sync", "step.cu", 7, "step", "cudaStreamSynchronize");
  Violation other = violation("host-poll", "step.cu", 9, "step", "cudaStreamQuery");
  wait.phase = other.phase = Phase::step;
  EXPECT_EQ(told(failed_with({wait, other})), "A CAPTURE WOULD DIE at step.cu:7, among others");
  wait.id = "a";
  other.symptom_of = "a";
  EXPECT_EQ(told(failed_with({wait, other})), "A CAPTURE WOULD DIE at step.cu:7");
}

TEST(Failure, WhatWasSeenGoesFirstThenADeath) {
  Violation would = violation("host-sync", "a.cu", 1, "a", "cudaStreamSynchronize", Evidence::sources);
  would.phase = Phase::source;
  const Violation wrong = in_capture("sync-copy", "c1", "cudaSuccess");
  const Violation died = in_capture("host-poll", "c2", "cudaErrorStreamCaptureUnsupported (900)");
  EXPECT_EQ(failure_of(failed_with({would, wrong}))->at->rule, "sync-copy");
  EXPECT_EQ(failure_of(failed_with({wrong, would, died}))->at->rule, "host-poll");
  EXPECT_EQ(failure_of(failed_run())->at->rule, "host-sync");
}

TEST(Failure, OnlyErrorsThatCountAreFailures) {
  EXPECT_FALSE(failure_of(clean_run()));
  Violation allowed = in_capture("host-sync", "c2", "cudaErrorStreamCaptureUnsupported (900)");
  allowed.suppressed = Suppressed{"meant", "capgate.supp:1"};
  Violation warning = in_capture("host-node", "c1", "cudaSuccess");
  warning.severity = Severity::warning;
  EXPECT_FALSE(failure_of(failed_with({allowed, warning})));
  // What decides is the caller's to say: warnings under --fail-on warning, what is new beside a baseline.
  const Report report = failed_with({warning});
  const std::vector<const Violation*> faults{report.violations.data()};
  EXPECT_EQ(failure_of(report, faults)->kind, FailureKind::graph_is_wrong);
  EXPECT_FALSE(failure_of(report, violation("recapture", "a.cu", 1, "f")));
}

// Nothing captures a graph that is built by hand, and what CUDA refuses is not in it.
TEST(Failure, AGraphThatNoCaptureMadeIsNotSaidToCapture) {
  const auto first_words = [](const char* rule, std::map<std::string, std::string> details) {
    Violation fault = violation(rule, "graph.cu", 7, "build");
    fault.phase = Phase::replay;
    fault.details = std::move(details);
    const Report report = failed_with({fault});
    const auto failure = failure_of(report);
    return failure ? failure_text(*failure, "graph.cu:7") : "no failure";
  };
  EXPECT_EQ(first_words("host-pointer", {{"graph", "built node by node"}}),
            "GRAPH IS WRONG: it launches, but holds the address of ordinary host memory, at graph.cu:7");
  EXPECT_EQ(first_words("graph-refused", {{"refused", "instantiation"}}),
            "GRAPH IS WRONG: CUDA refused its instantiation, at graph.cu:7");
  EXPECT_EQ(first_words("graph-refused", {{"launched again", "yes"}, {"refused", "update"}}),
            "GRAPH IS WRONG: its update was refused, and it was launched as it was, at graph.cu:7");
}

// The words follow "it captures, but" and "the graph".
TEST(Failure, EveryRuleSaysWhatItComesTo) {
  for (const Rule& rule : rules()) {
    EXPECT_FALSE(rule.if_captured == IfCaptured::wrong && rule.graph.empty()) << rule.id;
    if (rule.graph.empty()) continue;
    const auto verb = rule.graph.substr(0, rule.graph.find(' '));
    EXPECT_TRUE(verb == "lacks" || verb == "holds" || verb == "calls" || verb == "allocates" ||
                verb == "gives")
        << rule.id << ": " << rule.graph;
  }
}

}  // namespace
}  // namespace capgate::reports
