// What the trace holds of host memory that graphs keep and the program frees: with --watch-host's library,
// and without it.
#include <gtest/gtest.h>

#include "tests/unit/preload/audited.h"

namespace capgate::test {
namespace {

using trace::BlockOp;
using trace::HostOperandRecord;
using trace::PoolBlockRecord;

Options watched() {
  return {.env = {{"LD_PRELOAD", PRELOAD_LIBRARY ":" WATCH_HOST_LIBRARY}}};
}

TEST(WatchHost, TheEndOfACallbacksDataIsKept) {
  const Audited run = run_audited("callback_data", watched());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto& trace = run.only();
  const auto added = calls(trace, "cudaLaunchHostFunc");
  ASSERT_EQ(added.size(), 4u);
  const auto written = records<PoolBlockRecord>(trace, trace::RecordType::pool_block);
  ASSERT_EQ(written.size(), 7u);
  for (const auto& record : written) EXPECT_EQ(record.allocator, uint16_t(trace::Allocator::host));
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(BlockOp(written[i].op), BlockOp::born);
    EXPECT_EQ(written[i].start, added[i].src);
    EXPECT_EQ(written[i].born_seq, added[i].h.seq);
  }
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(BlockOp(written[4 + i].op), BlockOp::died);
    EXPECT_EQ(written[4 + i].start, added[i].src);
    EXPECT_NE(written[4 + i].stack, 0u);
  }
}

TEST(WatchHost, HeapMemoryOfACopyIsThereUntilItIsFreed) {
  const Audited run = run_audited("copies_from_the_heap", watched());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto& trace = run.only();
  const auto copies = calls(trace, "cudaMemcpyAsync");
  const auto launches = calls(trace, "cudaGraphLaunch");
  ASSERT_EQ(copies.size(), 2u);
  ASSERT_EQ(launches.size(), 2u);
  const auto seen = records<HostOperandRecord>(trace, trace::RecordType::host_operand);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(trace::OperandState(seen[0].state), trace::OperandState::watched);
  EXPECT_EQ(trace::OperandState(seen[1].state), trace::OperandState::watched);
  EXPECT_EQ(trace::OperandState(seen[2].state), trace::OperandState::gone);
  EXPECT_EQ(seen[2].copy_seq, copies[0].h.seq);
  EXPECT_EQ(seen[2].launch_seq, launches[1].h.seq);
  EXPECT_TRUE(records<PoolBlockRecord>(trace, trace::RecordType::pool_block).empty());
}

TEST(WatchHost, WithoutItsLibraryNothingIsWatched) {
  for (const char* scenario : {"callback_data", "copies_from_the_heap"}) {
    const Audited run = run_audited(scenario);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_TRUE(records<PoolBlockRecord>(run.only(), trace::RecordType::pool_block).empty());
    EXPECT_TRUE(records<HostOperandRecord>(run.only(), trace::RecordType::host_operand).empty());
  }
}

// Programs that have no CUDA, that fork, and that free before and after everything else.
TEST(WatchHost, AnyProgramRunsWithItsLibrary) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"/bin/true"},
        {"/bin/sh", "-c", "for i in 1 2 3; do /bin/true & done; wait"},
        {"python3", "-c",
         "import os, threading\n"
         "t = [threading.Thread(target=lambda: [bytes(i) for i in range(20000)]) for _ in range(8)]\n"
         "[x.start() for x in t]; [x.join() for x in t]\n"
         "pid = os.fork()\n"
         "os._exit(0) if pid == 0 else os.waitpid(pid, 0)\n"}}) {
    const Audited run = run_audited("", {.command = command, .env = watched().env});
    EXPECT_EQ(run.exit_code, 0) << command[0] << run.err;
    EXPECT_EQ(run.err, "");
  }
}

}  // namespace
}  // namespace capgate::test
