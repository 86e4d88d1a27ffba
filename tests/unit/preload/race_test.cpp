// The preloaded library, compiled with ThreadSanitizer, in a program whose threads do everything at once.
#include <gtest/gtest.h>

#include "tests/unit/preload/audited.h"

namespace capgate::test {
namespace {

constexpr size_t kThreads = 12, kRounds = 15;

TEST(Race, ThreadsThatDoEverythingAtOnce) {
  const Audited run = run_audited("", {.command = {RACING_PROGRAM, std::to_string(kRounds)},
                                       .env = {{"TSAN_OPTIONS", "history_size=7:exitcode=66"}}});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err.find("ThreadSanitizer"), std::string::npos) << run.err.substr(0, 6000);
  ASSERT_EQ(run.traces.size(), 1U);
  EXPECT_EQ(calls(run.only(), "cudaStreamBeginCapture").size(), 3 * kThreads * kRounds);
  EXPECT_EQ(calls(run.only(), "cudaStreamEndCapture").size(), 3 * kThreads * kRounds);
}

}  // namespace
}  // namespace capgate::test
