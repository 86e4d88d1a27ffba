// Which finding of a run and which of its sources are one fault.
#include "reports/merge/merge.h"

#include <gtest/gtest.h>

#include "reports/identity/source_path.h"
#include "reports/json/json.h"
#include "tests/unit/reports/merge/inputs.h"
#include "tests/unit/reports/sample.h"

namespace capgate::reports {
namespace {

using testing::adding;
using testing::clean_run;
using testing::clean_sources;
using testing::input;
using testing::merged;
using testing::violation;

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
  const Report report = merged(
      {input(adding(clean_run(), {run}), "r", '1'), input(adding(clean_sources(), sources), "s", '2')});
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
  const Report report = merged({input(adding(clean_run(), {between, elsewhere}), "r", '1'),
                                input(adding(clean_sources(), {assumed(12, "cfg.debug=0")}), "s", '2')});
  EXPECT_EQ(report.verdict, Verdict::pass);
  for (const Violation& v : report.violations) {
    EXPECT_EQ(v.severity, Severity::note) << v.message;
    EXPECT_FALSE(v.details.contains("refutes"));
  }
}

}  // namespace
}  // namespace capgate::reports
