// Whether a lint read the sources of the run that it is merged with.
#include "reports/merge/merge.h"

#include <gtest/gtest.h>

#include "reports/identity/source_path.h"
#include "reports/json/json.h"
#include "reports/verdict/finish.h"
#include "reports/verdict/reasons.h"
#include "tests/unit/reports/merge/inputs.h"
#include "tests/unit/reports/sample.h"

namespace capgate::reports {
namespace {

using testing::clean_run;
using testing::clean_sources;
using testing::failed_run;
using testing::input;
using testing::merged;

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

}  // namespace
}  // namespace capgate::reports
