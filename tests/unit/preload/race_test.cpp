// The preloaded library, compiled with ThreadSanitizer, in a program whose threads do everything at once.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "tests/unit/preload/audited.h"

namespace capgate::test {
namespace {

constexpr size_t kThreads = 12, kRounds = 15;

TEST(Race, ThreadsThatDoEverythingAtOnce) {
  const Audited run = run_audited(
      "", {.command = {RACING_PROGRAM, std::to_string(kRounds)},
           .env = {{"CAPGATE_REGIONS", "early\ndecode-*"}, {"TSAN_OPTIONS", "history_size=7:exitcode=66"}}});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err.find("ThreadSanitizer"), std::string::npos) << run.err.substr(0, 6000);
  ASSERT_EQ(run.traces.size(), 1U);
  EXPECT_EQ(calls(run.only(), "cudaStreamBeginCapture").size(), 3 * kThreads * kRounds);
  EXPECT_EQ(calls(run.only(), "cudaStreamEndCapture").size(), 3 * kThreads * kRounds);
  // Marks made while the trace opens are written once: by the thread that makes them or by the one that opens
  // it.
  std::set<std::string> subjects;
  for (const auto& [key, value] : run.only().process.meta)
    if (key.starts_with("subject.decode-")) subjects.insert(key);
  EXPECT_EQ(subjects.size(), kThreads);
  std::map<uint64_t, int> open;
  for (const auto& region : records<trace::RegionRecord>(run.only(), trace::RecordType::region)) {
    if (region.op == uint16_t(trace::RegionOp::start)) {
      EXPECT_EQ(open[region.range]++, 0) << "started twice";
    } else if (region.op == uint16_t(trace::RegionOp::stop)) {
      --open[region.range];
    }
  }
  EXPECT_GE(open.size(), kThreads * kRounds);
  for (const auto& [range, count] : open) EXPECT_EQ(count, 0) << range;
}

}  // namespace
}  // namespace capgate::test
