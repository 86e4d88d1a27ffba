// Reports of several ranks of one program.
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

TEST(Merge, TwoRanksThatSawAStepOnceEachSawItTwiceNowhere) {
  Report rank = clean_run();
  rank.captures.clear();
  rank.coverage.captures_completed = 0;
  rank.coverage.kind = CoverageKind::eager;
  rank.coverage.regions = {{"step", RegionSource::nvtx, 1}};
  const Report report = merged({input(rank, "r0", '1'), input(rank, "r1", '2')});
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
}

}  // namespace
}  // namespace capgate::reports
