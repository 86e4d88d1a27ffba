// What a pass says it proved, and what it says it did not.
#include "reports/verdict/claims.h"
#include "reports/verdict/gaps.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "reports/merge/merge.h"
#include "reports/verdict/finish.h"
#include "reports/verdict/watched.h"
#include "tests/unit/reports/sample.h"

namespace capgate::reports {
namespace {

using testing::clean_run;
using testing::clean_sources;
using testing::violation;

Report marked_eager_step() {
  Report report = clean_run();
  report.captures.clear();
  report.subject.buckets.clear();
  report.coverage.kind = CoverageKind::eager;
  report.coverage.captures_completed = report.coverage.replays = 0;
  report.coverage.regions = {{"decode", RegionSource::nvtx, 6}};
  finish(report);
  return report;
}

bool has(const std::vector<std::string>& list, const std::string& entry) {
  return std::find(list.begin(), list.end(), entry) != list.end();
}

TEST(Claims, ACaptureProvesWhatWasCapturedAndNotTheReplay) {
  const Claim claim = what_was_proved(clean_run());
  EXPECT_EQ(claim.scope, "capture only");
  EXPECT_EQ(claim.text, "2 graphs captured, launched 160 times, nothing refused or left out");
  Report run = clean_run();
  for (const auto& [python, call] :
       {std::pair{true, "capgate_marks.verify_replay"}, {false, "verify_replay of capgate/verify.h"}}) {
    if (!python) run.environment.python.reset();
    const NotProved open = what_was_not_proved(run);
    EXPECT_EQ(open.text,
              std::string("that a replay computes what the eager step does; a test shows it with ") + call);
    EXPECT_EQ(open.command, "");  // there is no command that proves it
  }
}

TEST(Claims, AGraphThatNobodyLaunchedIsSaidToBeOne) {
  Report report = clean_run();
  report.coverage.replays = 0;
  report.coverage.captures_completed = 1;
  EXPECT_EQ(what_was_proved(report).text, "1 graph captured, never launched, nothing refused or left out");
  report.coverage.replays = 1;
  EXPECT_EQ(what_was_proved(report).text, "1 graph captured, launched once, nothing refused or left out");
}

// Two captures into one graph and its body, or an executable that follows each capture by an update.
TEST(Claims, ACaptureIsNotCountedAsAGraphWhereOtherGraphsWereLaunched) {
  Report report = clean_run();
  report.coverage.replay = ReplayCoverage{1, 160, MemoryWatched::blocks, {}};
  EXPECT_EQ(what_was_proved(report).text,
            "2 captures completed, 1 executable graph launched 160 times, nothing refused or left out");
  EXPECT_EQ(what_was_watched(report), "memory of 1 executable graph at 160 launches, block by block");
  // Not all launches were of graphs that are known.
  report.coverage.replay->launches = 100;
  EXPECT_EQ(what_was_proved(report).text,
            "2 graphs captured, launched 160 times, nothing refused or left out");
}

TEST(Claims, AGraphBuiltByHandIsCounted) {
  Report report = clean_run();
  report.coverage.captures_completed = 0;
  report.coverage.replay = ReplayCoverage{1, 160, MemoryWatched::blocks, {}};
  for (Capture& capture : report.captures) capture.mode = "built";
  EXPECT_EQ(what_was_proved(report).text,
            "1 graph built node by node, launched 160 times, nothing refused or left out");
}

// An address in a structure may be a slot that was never filled in: a note, and no proof that all is well.
TEST(Claims, APassSaysWhichAddressesMayBeStale) {
  Report report = clean_run();
  Violation word = violation("freed-memory", "step.py", 7, "step", "cudaFree");
  word.severity = Severity::note;
  word.phase = Phase::replay;
  word.details = {{"certain", "no"}, {"now", "nothing"}};
  report.violations = {word};
  finish(report);
  EXPECT_EQ(report.verdict, Verdict::pass);
  EXPECT_EQ(
      what_was_watched(report),
      "memory of 2 graphs at 160 launches, block by block; 1 address inside a parameter structure may be "
      "stale");
  EXPECT_TRUE(
      has(report.coverage.not_checked,
          "memory: whether an address inside a kernel's structure, whose block went, is a pointer that "
          "the kernel follows"));
}

// A node that was added by hand keeps the address: that the memory is there is not shown.
TEST(Claims, MemoryThatIsNotShownToBeThereIsAReason) {
  Report report = clean_run();
  Violation copy = violation("host-pointer", "build.cu", 7, "build", "cudaGraphAddMemcpyNode1D");
  copy.severity = Severity::warning;
  copy.phase = Phase::replay;
  copy.details = {{"at each launch", "not known"}, {"graph", "built node by node"}};
  report.violations = {copy};
  finish(report);
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  ASSERT_EQ(report.reasons.size(), 1u);
  EXPECT_EQ(report.reasons[0].remedy,
            "give the node pinned memory that lives as long as the graph, then: capgate audit -- PROGRAM");
  Report allowed = clean_run();
  copy.suppressed = Suppressed{"the vector is a member", "build.cu:7"};
  allowed.violations = {copy};
  finish(allowed);
  EXPECT_EQ(allowed.verdict, Verdict::pass);
}

TEST(Claims, WhatWasRefusedOrLeftOutIsNotDenied) {
  Report report = clean_run();
  Violation retried = violation("host-sync", "step.cu", 7, "step", "cudaStreamSynchronize");
  retried.severity = Severity::note;
  retried.result = "cudaErrorStreamCaptureUnsupported (900)";
  report.violations = {retried};
  finish(report);
  EXPECT_EQ(what_was_proved(report).text, "2 graphs captured, launched 160 times, no error, 1 note");
  report.violations[0] = violation("sync-copy", "step.cu", 7, "step", "cudaMemcpy");
  report.violations[0].severity = Severity::note;
  finish(report);
  EXPECT_EQ(what_was_proved(report).text, "2 graphs captured, launched 160 times, no error, 1 note");
  report.violations[0].suppressed = Suppressed{"a debug build", "capgate.supp:3"};
  finish(report);
  EXPECT_EQ(what_was_proved(report).text,
            "2 graphs captured, launched 160 times, nothing else refused or left out, 1 allowed fault");
}

TEST(Claims, ADifferenceThatWasShownIsNotCalledUnproved) {
  Report report = clean_run();
  report.violations = {violation("replay-mismatch", "step.cu", 7, "verify", "cudaGraphLaunch")};
  report.violations[0].phase = Phase::replay;
  finish(report);
  EXPECT_EQ(what_was_not_proved(report).text,
            "that nothing else differs: a verification follows each output up to its first difference");
}

TEST(Claims, AnEagerStepProvesNoGraph) {
  const Claim claim = what_was_proved(marked_eager_step());
  EXPECT_EQ(claim.scope, "eager step only");
  EXPECT_EQ(claim.text, "marked step \"decode\" ran 6 times, no error in its calls, its streams not judged");
  const NotProved open = what_was_not_proved(marked_eager_step());
  EXPECT_EQ(open.text, "that the step captures: no graph was captured or launched");
  EXPECT_EQ(open.command, "capgate audit -- PROGRAM, once it captures the step");
  Report two = marked_eager_step();
  two.coverage.regions.push_back({"prefill", RegionSource::nvtx, 2});
  two.coverage.regions.push_back({"once", RegionSource::nvtx, 1});
  EXPECT_EQ(
      what_was_proved(two).text,
      "marked step \"decode\" ran 6 times and 1 more did, no error in its calls, its streams not judged");
}

TEST(Claims, SourcesProveNoRun) {
  const Claim claim = what_was_proved(clean_sources());
  EXPECT_EQ(claim.scope, "source only");
  EXPECT_EQ(claim.text, "31 files parsed with 1 region, nothing that a capture refuses or leaves out");
  EXPECT_EQ(what_was_not_proved(clean_sources()).text, "that the step captures: nothing was run");
}

TEST(Claims, BothTogetherAreSaidToBeBoth) {
  Report report = clean_run();
  report.coverage.files_parsed = 31;
  report.coverage.regions = {{"capture at decode.cu:12", RegionSource::lint, 1}};
  EXPECT_EQ(what_was_proved(report).scope, "capture and source");
  EXPECT_EQ(
      what_was_proved(report).text,
      "2 graphs captured, launched 160 times; 31 files parsed with 1 region, nothing refused or left out");
  Report eager = marked_eager_step();
  eager.coverage.files_parsed = 31;
  EXPECT_EQ(what_was_proved(eager).scope, "eager step and source");
}

TEST(Claims, WhatLookedAtNothingClaimsNothing) {
  EXPECT_EQ(what_was_proved(Report{}).scope, "");
  Report dead = clean_run();
  dead.coverage.kind = CoverageKind::nothing;
  dead.coverage.captures_completed = 0;
  dead.coverage.captures_failed = 1;
  EXPECT_EQ(what_was_proved(dead).scope, "");
  EXPECT_EQ(what_was_not_proved(dead).text, "anything about the graph of the step: its capture failed");
}

// One report, one thing to do: an eager run shows nothing more of a step that raises before or behind the
// capture.
TEST(Claims, TheReasonAndTheSecondLineAskForTheSameRun) {
  for (const bool raised : {true, false}) {
    Report report = clean_run();
    report.captures.clear();
    report.coverage.kind = CoverageKind::nothing;
    report.coverage.captures_completed = report.coverage.replays = 0;
    report.coverage.captures_failed = 1;
    report.coverage.regions.clear();
    report.coverage.replay.reset();
    Violation fault = violation("capture-invalidated", "step.py", 7, "step", "");
    fault.result = raised ? "ValueError" : "cudaErrorStreamCaptureUnsupported (900)";
    if (raised) fault.details["exception"] = "ValueError: no rows";
    report.violations = {fault};
    report.reasons.clear();
    finish(report);
    ASSERT_EQ(report.reasons.size(), 1u);
    EXPECT_EQ(report.reasons[0].remedy, what_was_not_proved(report).command);
    EXPECT_EQ(report.reasons[0].remedy.find("--region") == std::string::npos, raised)
        << report.reasons[0].remedy;
  }
}

TEST(Claims, EachKindOfEvidenceHasItsOwnGaps) {
  const auto run = never_looked_at(clean_run());
  EXPECT_TRUE(has(run, "replays: their results were compared with no eager step"));
  EXPECT_TRUE(has(run, "sources: capgate lint read none"));
  EXPECT_FALSE(has(run, "a graph: none was captured, launched or compared"));
  const auto eager = never_looked_at(marked_eager_step());
  EXPECT_TRUE(has(eager, "a graph: none was captured, launched or compared"));
  EXPECT_TRUE(has(eager, "memory: whether what a graph refers to lives as long as the graph"));
  EXPECT_TRUE(has(eager, "batch sizes, shapes and branches that the run did not take"));
  EXPECT_FALSE(has(eager, "replays: their results were compared with no eager step"));
  EXPECT_FALSE(has(run, "memory: whether what a graph refers to lives as long as the graph"));
  EXPECT_TRUE(has(run, "order: whether each launch comes after the writes of its inputs on other streams"));
  EXPECT_TRUE(has(
      run,
      "memory: blocks that a pool of the program's own takes back and keeps (what CUDA frees is followed)"));
  Report unwatched = clean_run();
  unwatched.coverage.replay->memory_watched = MemoryWatched::no;
  EXPECT_TRUE(
      has(never_looked_at(unwatched), "memory: whether what a graph refers to lives as long as the graph"));
  Report unseen = clean_run();
  unseen.captures.clear();
  unseen.coverage.captures_completed = 0;
  EXPECT_TRUE(has(never_looked_at(unseen), "the graphs that were launched: no work was seen in them"));
  EXPECT_FALSE(has(never_looked_at(unseen), "a graph: none was captured, launched or compared"));
  const auto lint = never_looked_at(clean_sources());
  EXPECT_TRUE(has(lint, "a run: nothing was captured, launched or measured"));
  EXPECT_FALSE(has(lint, "batch sizes, shapes and branches that the run did not take"));
  EXPECT_FALSE(has(lint, "sources: capgate lint read none"));
}

TEST(Claims, FinishListsWhatNobodyLookedAt) {
  EXPECT_EQ(clean_run().coverage.not_checked, never_looked_at(clean_run()));
  Report report = marked_eager_step();
  report.coverage.not_checked = {"Python lines: no CPython"};
  finish(report);
  finish(report);
  ASSERT_GT(report.coverage.not_checked.size(), 1u);
  EXPECT_EQ(report.coverage.not_checked[0], "Python lines: no CPython");
  EXPECT_EQ(report.coverage.not_checked.size(), 1 + never_looked_at(report).size());
}

// What one kind of evidence does not look at, the other may have.
TEST(Claims, AMergedReportListsWhatNeitherLookedAt) {
  const auto report = merge({{clean_run(), "r", "1"}, {clean_sources(), "s", "2"}}, "0.1.0");
  ASSERT_TRUE(report.ok());
  const auto& gaps = report->coverage.not_checked;
  EXPECT_TRUE(has(gaps, "replays: their results were compared with no eager step"));
  for (const char* answered :
       {"sources: capgate lint read none", "a run: nothing was captured, launched or measured"})
    EXPECT_FALSE(has(gaps, answered)) << answered;
}

TEST(Claims, ALintOfWhatChangedSaysHowMuchThatIs) {
  Report report = clean_sources();
  report.coverage.changed = ChangedSince{"main", {}};
  EXPECT_EQ(what_was_proved(report).text,
            "31 files parsed with 1 region, nothing in them that differs from main is in a region's reach");
  EXPECT_TRUE(has(never_looked_at(report), "faults on lines that are as in main"));
  report.coverage.changed->in_reach = {"model/decode.cpp"};
  EXPECT_EQ(
      what_was_proved(report).text,
      "31 files parsed with 1 region, judged where they differ from main, nothing that a capture refuses or "
      "leaves out");
}

TEST(Claims, APassSaysHowCloselyMemoryWasWatched) {
  Report report = clean_run();
  EXPECT_EQ(what_was_watched(report), "memory of 2 graphs at 160 launches, block by block");
  report.coverage.replay = ReplayCoverage{1, 1, MemoryWatched::segments, {"CuPy", "PyTorch"}};
  EXPECT_EQ(what_was_watched(report),
            "memory of 1 graph at 1 launch, but not the blocks of CuPy and PyTorch");
  report.coverage.replay = ReplayCoverage{};
  EXPECT_EQ(what_was_watched(report), "no memory");
  report.coverage.replay.reset();
  EXPECT_EQ(what_was_watched(report), "") << "an older report does not say";
}

TEST(Claims, GapsOfAnOlderReportAreNotParticularToIt) {
  Report report = clean_run();
  report.coverage.not_checked = {
      "memory: blocks that a pool of the program, CuPy or RMM takes back and keeps (what CUDA frees is "
      "followed)",
      "captures that go on between replays, and memory that graphs do not give back", "Python lines: none"};
  EXPECT_EQ(particular_gaps(report), std::vector<std::string>{"Python lines: none"});
}

TEST(Claims, ParticularGapsAreThoseOfThisReport) {
  Report report = clean_run();
  report.coverage.not_checked = never_looked_at(report);
  report.coverage.not_checked.insert(report.coverage.not_checked.begin() + 1, "Python lines: no CPython");
  EXPECT_EQ(particular_gaps(report), std::vector<std::string>{"Python lines: no CPython"});
}

}  // namespace
}  // namespace capgate::reports
