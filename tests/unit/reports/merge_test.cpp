#include "reports/merge/merge.h"

#include <gtest/gtest.h>

#include "golden.h"
#include "reports/identity/source_path.h"
#include "reports/json/json.h"
#include "reports/verdict/finish.h"
#include "reports/verdict/verdict.h"
#include "sample.h"

namespace capgate::reports {
namespace {

using testing::clean_run;
using testing::clean_sources;
using testing::failed_run;
using testing::violation;

MergeInput input(Report report, std::string name, char digest) {
  return {std::move(report), std::move(name), std::string(64, digest)};
}

Report merged(std::vector<MergeInput> inputs) {
  auto report = merge(std::move(inputs), "0.1.0");
  EXPECT_TRUE(report.ok()) << (report ? "" : report.error());
  return report ? *report : Report{};
}

Report adding(Report report, std::vector<Violation> faults) {
  report.violations = std::move(faults);
  finish(report);
  return report;
}

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

TEST(Merge, PairsAFaultSeenBothWays) {
  Violation run = violation("host-sync", "a.cpp", 12, "void ns::f<int>(int)", "cudaStreamSynchronize_ptsz");
  run.message = "waited";
  run.count = 3;
  run.stacks = {{StackRole::call, {}}};
  Violation source = violation("host-sync", "a.cpp", 10, "ns::f", "cudaStreamSynchronize", Evidence::sources);
  source.message = "waits";
  source.phase = Phase::source;
  source.flow = {{"a.cpp", 8, "copied from the device here"}};
  const Report report = merged(
      {input(adding(clean_run(), {run}), "r", '1'), input(adding(clean_sources(), {source}), "s", '2')});
  ASSERT_EQ(report.violations.size(), 1u);
  const Violation& both = report.violations[0];
  EXPECT_EQ(both.evidence, (std::vector<Evidence>{Evidence::runtime, Evidence::sources}));
  EXPECT_EQ(both.message, "waited");
  EXPECT_EQ(both.location.line, 12);
  EXPECT_EQ(both.count, 3u);
  EXPECT_EQ(both.flow.size(), 1u);
  EXPECT_EQ(both.phase, Phase::capture);
}

TEST(Merge, KeepsTheFix) {
  Violation run = violation("host-sync", "a.cpp", 12, "f", "cudaStreamSynchronize");
  Violation source = violation("host-sync", "a.cpp", 12, "f", "cudaStreamSynchronize", Evidence::sources);
  const auto hint = [&] {
    const Report report = merged(
        {input(adding(clean_run(), {run}), "r", '1'), input(adding(clean_sources(), {source}), "s", '2')});
    return report.violations.size() == 1 ? report.violations[0].hint : "";
  };
  EXPECT_FALSE(hint().empty());
  source.hint = "drop the debug read";  // of this very place
  EXPECT_EQ(hint(), "drop the debug read");
  run.hint = "read the token after the launch";
  EXPECT_EQ(hint(), "read the token after the launch");
}

// A run sees the allocation inside a library, the sources show the library's function.
TEST(Merge, PairsACallThroughALibraryByWhatTheLineCalled) {
  Violation run = violation("device-alloc", "a.cpp", 12, "ns::f()", "cudaFree");
  run.stacks = {{StackRole::call,
                 {{FrameLanguage::native, "", 0, "+0x4cb045", "libcuda.so.1", false},
                  {FrameLanguage::native, "", 0, "cublasCreate_v2+0x7e", "libcublas.so.13", false},
                  {FrameLanguage::native, "a.cpp", 12, "ns::f()", "a", true},
                  {FrameLanguage::native, "a.cpp", 20, "main", "a", false}}}};
  const auto pairs = [&](const Violation& source) {
    return merged({input(adding(clean_run(), {run}), "r", '1'),
                   input(adding(clean_sources(), {source}), "s", '2')})
               .violations.size() == 1;
  };
  EXPECT_TRUE(pairs(violation("device-alloc", "a.cpp", 12, "ns::f", "cublasCreate", Evidence::sources)));
  EXPECT_FALSE(pairs(violation("device-alloc", "a.cpp", 12, "ns::f", "cusparseCreate", Evidence::sources)));
  EXPECT_FALSE(pairs(violation("host-alloc", "a.cpp", 12, "ns::f", "cublasCreate", Evidence::sources)));
  run.stacks[0].role = StackRole::allocated;
  EXPECT_FALSE(pairs(violation("device-alloc", "a.cpp", 12, "ns::f", "cublasCreate", Evidence::sources)));
}

// capture-invalidated is what a run says when it has no finer rule; the sources may have one.
TEST(Merge, ARefusalWithoutARuleTakesTheRuleOfTheSources) {
  Violation run = violation("capture-invalidated", "a.cpp", 12, "f", "cudaStreamAddCallback");
  run.message = "killed capture 1";
  run.hint = "see the call";
  Violation source = violation("host-node", "a.cpp", 12, "f", "cudaStreamAddCallback", Evidence::sources);
  source.severity = Severity::warning;
  for (const bool run_first : {true, false}) {
    std::vector<MergeInput> inputs{input(adding(clean_run(), {run}), "r", '1'),
                                   input(adding(clean_sources(), {source}), "s", '2')};
    if (!run_first) std::swap(inputs[0], inputs[1]);
    const Report report = merged(std::move(inputs));
    ASSERT_EQ(report.violations.size(), 1u);
    EXPECT_EQ(report.violations[0].rule, "host-node");
    EXPECT_EQ(report.violations[0].severity, Severity::error);
    EXPECT_EQ(report.violations[0].message, "killed capture 1");
    EXPECT_NE(report.violations[0].hint, "see the call");
  }
  for (const Violation& other :
       {violation("host-node", "a.cpp", 12, "f", "cudaLaunchHostFunc", Evidence::sources),
        violation("host-node", "a.cpp", 12, "f", "cudaStreamAddCallback", Evidence::runtime),
        violation("host-branch", "a.cpp", 12, "f", "", Evidence::sources)})
    EXPECT_EQ(merged({input(adding(clean_run(), {run}), "r", '1'),
                      input(adding(clean_sources(), {other}), "s", '2')})
                  .violations.size(),
              2u)
        << other.rule;
}

Report ran_in(std::vector<std::string> sources) {
  Report report = clean_run();
  report.coverage.sources_run = std::move(sources);
  finish(report);
  return report;
}

std::string gap(const Report& report, const std::string& beginning) {
  for (const std::string& entry : report.coverage.not_checked)
    if (entry.starts_with(beginning)) return entry;
  return "";
}

TEST(Merge, RefusesALintOfOtherSources) {
  const auto refused = merge({input(ran_in({"serve/loop.cpp", "serve/loop.py"}), "audit.json", '1'),
                              input(clean_sources(), "lint.json", '2')},
                             "0.1.0");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(
      refused.error(),
      "cannot merge audit.json and lint.json: lint read 3 sources, such as include/decode.h, and none of "
      "those that the audit's frames name, such as serve/loop.cpp; lint the sources of the audited program");
  // Lints of two folders are one of both.
  Report other = clean_sources();
  other.coverage.sources_read = {"serve/loop.cpp"};
  EXPECT_TRUE(merge({input(ran_in({"serve/loop.cpp"}), "a", '1'), input(clean_sources(), "l", '2'),
                     input(other, "m", '3')},
                    "0.1.0")
                  .ok());
}

// Every program of a house includes its headers.
TEST(Merge, RefusesALintThatSharesOnlyAHeader) {
  const auto refused = merge({input(ran_in({"include/decode.h", "serve/loop.cpp"}), "audit.json", '1'),
                              input(clean_sources(), "lint.json", '2')},
                             "0.1.0");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(
      refused.error(),
      "cannot merge audit.json and lint.json: they share headers, such as include/decode.h, and lint read "
      "none of the sources that the audit's frames name, such as serve/loop.cpp; lint the sources of the "
      "audited program");
  // All that the frames of a run name may be inlined from headers.
  EXPECT_TRUE(
      merge({input(ran_in({"include/decode.h"}), "a", '1'), input(clean_sources(), "l", '2')}, "0").ok());
}

TEST(Merge, ReportsWhichSourcesWereNotLinted) {
  const Report report =
      merged({input(ran_in({"main.cpp", "model/decode.cpp", "model/moe.cu", "serve.py"}), "a", '1'),
              input(clean_sources(), "l", '2')});
  EXPECT_EQ(report.coverage.sources_not_read, (std::vector<std::string>{"model/moe.cu", "serve.py"}));
  EXPECT_EQ(gap(report, "sources of the audited"),
            "sources of the audited program that capgate lint did not read: model/moe.cu");
  EXPECT_NE(gap(report, "the audited program's Python"), "");
  EXPECT_EQ(report.verdict, Verdict::pass);
  // Another lint reads the rest, and what was said of the first is not said again.
  Report rest = clean_sources();
  rest.coverage.sources_read = {"model/moe.cu"};
  const Report whole = merged({input(report, "m", '3'), input(rest, "r", '4')});
  EXPECT_EQ(whole.coverage.sources_not_read, std::vector<std::string>{"serve.py"});
  EXPECT_EQ(gap(whole, "sources of the audited"), "");
}

// A Python program, or one without debug information: nothing says whose sources were linted.
TEST(Merge, ARunWithoutCSourcesIsMergedAndThatIsSaid) {
  for (const auto& sources :
       {std::vector<std::string>{"serve.py", "model/moe.py"}, std::vector<std::string>{}}) {
    const Report report = merged({input(ran_in(sources), "a", '1'), input(clean_sources(), "l", '2')});
    EXPECT_EQ(report.verdict, Verdict::pass);
    EXPECT_NE(gap(report, "whether what capgate lint read is the audited program"), "");
  }
}

TEST(Merge, AnOlderAuditsSourcesAreThoseOfItsFaults) {
  Report old = failed_run();
  old.coverage.sources_run.reset();
  EXPECT_TRUE(merge({input(old, "a", '1'), input(clean_sources(), "l", '2')}, "0").ok());
  Report other = clean_sources();
  other.coverage.sources_read = {"serve/loop.cpp"};
  EXPECT_FALSE(merge({input(old, "a", '1'), input(other, "l", '2')}, "0").ok());
  other.coverage.sources_read.reset();
  EXPECT_NE(
      gap(merged({input(old, "a", '1'), input(other, "l", '2')}), "whether capgate lint read the audited"),
      "");
}

TEST(Merge, KnowsAFileByWhatTwoTreesCallIt) {
  EXPECT_TRUE(same_source("src/decode.cu", "src/decode.cu"));
  EXPECT_TRUE(same_source("/builds/7/engine/src/decode.cu", "src/decode.cu"));
  EXPECT_TRUE(same_source("engine/src/decode.cu", "src/decode.cu"));
  EXPECT_TRUE(same_source("main.cpp", "/src/main.cpp"));
  EXPECT_FALSE(same_source("main.cpp", "tools/main.cpp"));
  EXPECT_FALSE(same_source("src/decode.cu", "src/xdecode.cu"));
  EXPECT_FALSE(same_source("asrc/decode.cu", "src/decode.cu"));
  EXPECT_FALSE(same_source("", "/src/main.cpp"));
}

TEST(Merge, ALintWithoutARegionIsOneWithAnotherThatHasOne) {
  Report none = clean_sources();
  none.coverage.regions.clear();
  none.coverage.sources_read = {"main.cpp"};
  finish(none);
  ASSERT_EQ(none.verdict, Verdict::inconclusive);
  EXPECT_EQ(merged({input(none, "n", '1'), input(clean_sources(), "l", '2')}).verdict, Verdict::pass);
  const Report alone = merged({input(none, "n", '1'), input(clean_run(), "r", '2')});
  EXPECT_EQ(alone.verdict, Verdict::inconclusive);
  EXPECT_EQ(alone.reasons, std::vector<Reason>{no_region()});
}

TEST(Merge, KeepsApartWhatIsNotTheSame) {
  const Violation run = violation("host-sync", "a.cpp", 12, "f", "cudaStreamSynchronize");
  const Violation others[] = {
      violation("host-sync", "a.cpp", 15, "f", "cudaStreamSynchronize", Evidence::sources),
      violation("host-poll", "a.cpp", 12, "f", "cudaStreamSynchronize", Evidence::sources),
      violation("host-sync", "b.cpp", 12, "f", "cudaStreamSynchronize", Evidence::sources),
      violation("host-sync", "a.cpp", 12, "g", "cudaStreamSynchronize", Evidence::sources),
      violation("host-sync", "a.cpp", 12, "f", "cudaDeviceSynchronize", Evidence::sources)};
  for (const auto& other : others) {
    const Report report = merged(
        {input(adding(clean_run(), {run}), "r", '1'), input(adding(clean_sources(), {other}), "s", '2')});
    EXPECT_EQ(report.violations.size(), 2u) << other.rule << other.location.file << other.location.line;
  }
}

TEST(Merge, PairsAnInlinedNameWithTheQualifiedOne) {
  const Violation run = violation("host-sync", "a.cpp", 12, "route", "c");
  for (const auto& [function, faults] :
       {std::pair("ns::Layer::route", 1u), std::pair("ns::Layer::reroute", 2u)}) {
    const Violation source = violation("host-sync", "a.cpp", 12, function, "c", Evidence::sources);
    const Report report = merged(
        {input(adding(clean_run(), {run}), "r", '1'), input(adding(clean_sources(), {source}), "s", '2')});
    EXPECT_EQ(report.violations.size(), faults) << function;
  }
}

TEST(Merge, PairsNeighboursWithTheirOwnTwins) {
  const auto at = [](int line, Evidence kind) {
    return violation("host-sync", "a.cpp", line, "f", "c", kind);
  };
  const Report report = merged(
      {input(adding(clean_run(), {at(10, Evidence::runtime), at(12, Evidence::runtime)}), "r", '1'),
       input(adding(clean_sources(), {at(10, Evidence::sources), at(12, Evidence::sources)}), "s", '2')});
  ASSERT_EQ(report.violations.size(), 2u);
  for (const auto& fault : report.violations) EXPECT_EQ(fault.evidence.size(), 2u);
  EXPECT_EQ(report.violations[0].location.line, 10);
  EXPECT_EQ(report.violations[1].location.line, 12);
}

TEST(Merge, AddsTheCountsOfRanks) {
  Violation rank0 = violation("host-sync", "a.cpp", 12, "f", "c");
  rank0.count = 3;
  rank0.processes = {2};
  rank0.blocked_us = 10;
  Violation rank1 = rank0;
  rank1.count = 4;
  rank1.processes = {1};
  const Report report = merged(
      {input(adding(clean_run(), {rank0}), "r0", '1'), input(adding(clean_run(), {rank1}), "r1", '2')});
  ASSERT_EQ(report.violations.size(), 1u);
  EXPECT_EQ(report.violations[0].count, 7u);
  EXPECT_EQ(report.violations[0].processes, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(report.violations[0].blocked_us, 20);
  EXPECT_EQ(report.coverage.captures_completed, 4u);
  std::set<std::string> ids;
  for (const auto& capture : report.captures) EXPECT_TRUE(ids.insert(capture.id).second) << capture.id;
}

TEST(Merge, SizesThatDifferBetweenRanksAreARange) {
  const auto rank = [](const std::string& size, uint64_t bytes) {
    Violation one = violation("sync-copy", "a.cpp", 12, "f", "cudaMemcpy");
    one.message = "copies " + size + " at once: it is not in capture 1 of s2";
    one.details = {{"copy", size + " from the device"}, {"direction", "device to host"}};
    one.bytes = bytes;
    return adding(clean_run(), {one});
  };
  const auto both = [&](const Report& a, const Report& b) {
    return merged({input(a, "a", '1'), input(b, "b", '2')}).violations.at(0);
  };
  const Violation fault = both(rank("4096 bytes", 4096), rank("1 byte", 1));
  EXPECT_EQ(fault.message, "copies 1 to 4096 bytes at once: it is not in capture 1 of s2");
  EXPECT_EQ(fault.details.at("copy"), "1 to 4096 bytes from the device");
  EXPECT_EQ(fault.details.at("direction"), "device to host");
  EXPECT_EQ(fault.bytes, 4097u);
  EXPECT_EQ(both(rank("8 to 16 bytes", 24), rank("12 bytes", 12)).message,
            "copies 8 to 16 bytes at once: it is not in capture 1 of s2");
  EXPECT_EQ(both(rank("8 to 16 bytes", 24), rank("4 to 12 bytes", 16)).message,
            "copies 4 to 16 bytes at once: it is not in capture 1 of s2");
  EXPECT_EQ(both(rank("1 byte", 1), rank("1 byte", 1)).message,
            "copies 1 byte at once: it is not in capture 1 of s2");
  EXPECT_EQ(both(rank("8 bytes", 8), rank("an array", 0)).message,
            "copies 8 bytes at once: it is not in capture 1 of s2");
}

TEST(Merge, AddsTheCapturesOfRanks) {
  const auto rank = [](uint64_t count, std::map<std::string, std::string> details) {
    Violation one = violation("pageable-copy", "a.cpp", 12, "f", "cudaMemcpyAsync");
    one.capture = "1:1";
    one.count = count;
    one.details = std::move(details);
    return adding(clean_run(), {one});
  };
  const auto details = [&](const Report& a, const Report& b) {
    return merged({input(a, "a", '1'), input(b, "b", '2')}).violations.at(0).details;
  };
  using Details = std::map<std::string, std::string>;
  const Report several = rank(6, {{"captures", "6"}, {"launches", "18"}});
  EXPECT_EQ(details(several, several), (Details{{"captures", "12"}, {"launches", "36"}}));
  EXPECT_EQ(details(several, rank(1, {})), (Details{{"captures", "7"}}))
      << "the launches of one are not known";
  EXPECT_EQ(details(rank(3, {{"times captured", "1"}}), rank(2, {})),
            (Details{{"captures", "2"}, {"times captured", "3"}}));
}

TEST(Merge, ASuppressionOfOneRankDoesNotCoverAnother) {
  Violation open = violation("host-sync", "a.cpp", 12, "f", "c");
  Violation allowed = open;
  allowed.suppressed = Suppressed{"why", "a.cpp:11"};
  const Report ranks = merged(
      {input(adding(clean_run(), {open}), "r0", '1'), input(adding(clean_run(), {allowed}), "r1", '2')});
  EXPECT_EQ(ranks.verdict, Verdict::fail);
  Violation source = violation("host-sync", "a.cpp", 12, "f", "c", Evidence::sources);
  const Report kinds = merged(
      {input(adding(clean_run(), {allowed}), "r", '1'), input(adding(clean_sources(), {source}), "s", '2')});
  EXPECT_EQ(kinds.verdict, Verdict::pass);
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

TEST(Merge, TwoRanksThatSawAStepOnceEachSawItTwiceNowhere) {
  Report rank = clean_run();
  rank.captures.clear();
  rank.coverage.captures_completed = 0;
  rank.coverage.kind = CoverageKind::eager;
  rank.coverage.regions = {{"step", RegionSource::nvtx, 1}};
  const Report report = merged({input(rank, "r0", '1'), input(rank, "r1", '2')});
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
}

TEST(Merge, ARegionInTheSourceIsNoOccurrenceOfAStep) {
  Report rank = clean_run();
  rank.captures.clear();
  rank.coverage.captures_completed = 0;
  rank.coverage.kind = CoverageKind::eager;
  rank.coverage.regions = {{"step", RegionSource::nvtx, 1}};
  Report sources = clean_sources();
  sources.coverage.regions = {{"engine::step", RegionSource::lint, 7}};
  EXPECT_EQ(merged({input(rank, "r", '1'), input(sources, "s", '2')}).verdict, Verdict::inconclusive);
}

Report with(Report report, std::vector<Violation> violations) {
  report.violations = std::move(violations);
  finish(report);
  return report;
}

Violation assumed(int line, const std::string& assumption) {
  Violation v = violation("host-sync", "a.cpp", line, "ns::f", "cudaStreamSynchronize", Evidence::sources);
  v.severity = Severity::note;
  v.phase = Phase::source;
  v.message = "waits, only if cfg.debug (ruled out by the assumption " + assumption + ")";
  v.details = {{"only_if", "cfg.debug"}, {"assumed", assumption}, {"not_assumed", "warning"}};
  return v;
}

TEST(Merge, ARunThatGotWhereAnAssumptionRuledItOutIsAnError) {
  Violation run = violation("host-sync", "a.cpp", 12, "ns::f", "cudaStreamSynchronize");
  run.severity = Severity::note;
  run.phase = Phase::capture;
  run.message = "waited";
  const std::vector<Violation> sources = {assumed(12, "cfg.debug=0"), assumed(40, "cfg.debug=0"),
                                          assumed(80, "cfg.trace=0")};
  const Report report =
      merged({input(with(clean_run(), {run}), "r", '1'), input(with(clean_sources(), sources), "s", '2')});
  ASSERT_EQ(report.violations.size(), 3u);
  EXPECT_EQ(report.verdict, Verdict::fail);
  const Violation& refuting = report.violations[0];
  EXPECT_EQ(refuting.severity, Severity::error);
  EXPECT_EQ(refuting.message, "waited; the run got here, so that the assumption cfg.debug=0 does not hold");
  EXPECT_EQ(refuting.details.at("refutes"), "cfg.debug=0");
  const Violation& open_again = report.violations[1];
  EXPECT_EQ(open_again.location.line, 40);
  EXPECT_EQ(open_again.severity, Severity::warning);
  EXPECT_EQ(open_again.message,
            "waits, only if cfg.debug (the assumption cfg.debug=0 does not hold in a run)");
  EXPECT_EQ(report.violations[2].location.line, 80);
  EXPECT_EQ(report.violations[2].severity, Severity::note);
  // A merge of the merge says it once.
  const Report again = merged({input(report, "m", '3'), input(clean_run(), "r2", '4')});
  ASSERT_EQ(again.violations.size(), 3u);
  EXPECT_EQ(again.violations[0].message, refuting.message);
  EXPECT_EQ(again.verdict, Verdict::fail);
}

TEST(Merge, AnAssumptionIsRefutedOnlyByWhatRanInARegion) {
  Violation between = violation("host-sync", "a.cpp", 12, "ns::f", "cudaStreamSynchronize");
  between.severity = Severity::note;
  between.phase = Phase::step;
  Violation elsewhere = violation("host-sync", "a.cpp", 50, "ns::f", "cudaStreamSynchronize");
  elsewhere.severity = Severity::note;
  const Report report = merged({input(with(clean_run(), {between, elsewhere}), "r", '1'),
                                input(with(clean_sources(), {assumed(12, "cfg.debug=0")}), "s", '2')});
  EXPECT_EQ(report.verdict, Verdict::pass);
  for (const Violation& v : report.violations) {
    EXPECT_EQ(v.severity, Severity::note) << v.message;
    EXPECT_FALSE(v.details.contains("refutes"));
  }
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
