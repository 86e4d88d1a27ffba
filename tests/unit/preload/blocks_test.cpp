// What the trace holds of the blocks that PyTorch's allocator hands out.
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/preload/audited.h"

namespace capgate::test {
namespace {

using trace::BlockOp;
using trace::PoolBlockRecord;

std::vector<PoolBlockRecord> blocks(const RecordedTrace& trace) {
  return records<PoolBlockRecord>(trace, trace::RecordType::pool_block);
}

TEST(TorchBlocks, WhatLivedInACaptureIsWrittenAndFollowed) {
  const Audited run = run_audited("torch_blocks");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto& trace = run.only();
  EXPECT_EQ(trace.fact("torch.blocks"), "followed");
  EXPECT_EQ(trace.fact("allocator.PyTorch"), "libc10_cuda.so");
  const auto written = blocks(trace);
  ASSERT_EQ(written.size(), 7u);
  struct Expected {
    uint64_t start, bytes;
    BlockOp op;
    uint32_t own_capture;
  } const expected[] = {
      {0x1000, 512, BlockOp::born, 1},  {0x3000, 1024, BlockOp::born, 1}, {0x1000, 512, BlockOp::died, 0},
      {0x1000, 2048, BlockOp::born, 0}, {0x1000, 2048, BlockOp::died, 0}, {0x3000, 1024, BlockOp::died, 0},
      {0x5000, 512, BlockOp::born, 1},
  };
  for (size_t i = 0; i < written.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(written[i].start, expected[i].start);
    EXPECT_EQ(written[i].bytes, expected[i].bytes);
    EXPECT_EQ(BlockOp(written[i].op), expected[i].op);
    EXPECT_EQ(written[i].own_capture, expected[i].own_capture);
    EXPECT_EQ(written[i].device, 0);
    EXPECT_NE(written[i].stack, 0u);
  }
  // The birth is told late, and says when it was.
  const auto begun = calls(trace, "cudaStreamBeginCapture");
  ASSERT_EQ(begun.size(), 2u);
  EXPECT_LT(written[0].born_seq, begun[0].h.seq);
  EXPECT_GT(written[0].h.seq, begun[0].h.seq);
  EXPECT_GT(written[1].born_seq, begun[0].seq_end);
  EXPECT_EQ(written[2].born_seq, written[0].born_seq);
  EXPECT_EQ(written[4].born_seq, written[3].born_seq);
}

TEST(TorchBlocks, PyTorchStillSeesEveryReport) {
  const Audited run = run_audited("torch_blocks");
  EXPECT_NE(run.err.find("reports 12\n"), std::string::npos) << run.err;
  const Audited alone = run_audited("torch_blocks", {.preload = false});
  EXPECT_NE(alone.err.find("reports 12\n"), std::string::npos) << alone.err;
}

TEST(TorchBlocks, TheTableFindsWhatIsLeft) {
  const Audited run = run_audited("many_torch_blocks");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  // 7919 and 20000 have no common factor: each block is freed once, but for those whose number is left out.
  std::set<uint64_t> expected, left;
  for (uint64_t thread = 1; thread <= 4; ++thread)
    for (uint64_t i = 0; i < 20000; i += 1000) expected.insert(thread << 40 | (i * 7919 % 20000) << 9);
  for (const auto& record : blocks(run.only())) {
    EXPECT_EQ(BlockOp(record.op), BlockOp::born);
    EXPECT_TRUE(left.insert(record.start).second);
  }
  EXPECT_EQ(left, expected);
}

TEST(TorchBlocks, ATableThatOverflowsSaysSo) {
  const Audited run = run_audited("too_many_torch_blocks");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.fact("torch.blocks").rfind("lost: ", 0), 0u);
}

// A block's line of birth is kept until a capture asks for it, also where the same line comes again and
// again.
TEST(TorchBlocks, TheirLinesInPythonAreKept) {
  const std::string script =
      "import ctypes\n"
      "rt = ctypes.CDLL('" FAKE_PYTHON_RUNTIME
      "')\n"
      "torch = ctypes.CDLL('libc10_cuda.so')\n"
      "block = torch.fake_torch_block\n"
      "block.argtypes = [ctypes.c_uint64, ctypes.c_int64]\n"
      "rt.fake_python_synchronize()\n"
      "def table(at):\n"
      "    block(at, 512)\n"
      "def other(at):\n"
      "    block(at, 512)\n"
      "for i in range(1, 4):\n"
      "    table(i << 12)\n"
      "    other(i << 20)\n"
      "rt.fake_python_begin_capture()\n"
      "rt.fake_python_end_capture()\n"
      "block(1 << 20, -512)\n";
  for (const std::string& python : interpreters()) {
    SCOPED_TRACE(python);
    const Audited run = run_audited("", {.command = {python, "-c", script}});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto& stacks = run.only().process.python_stacks;
    const auto written = blocks(run.only());
    ASSERT_EQ(written.size(), 7u);
    for (const auto& record : written) {
      ASSERT_TRUE(stacks.contains(record.python_stack));
      const std::string& stack = stacks.at(record.python_stack);
      const bool died = BlockOp(record.op) == BlockOp::died;
      const std::string in_table = "line 8 in table\n  File \"<string>\", line 12";
      const std::string in_other = "line 10 in other\n  File \"<string>\", line 13";
      const std::string at = died ? "line 16 in <module>" : record.start < 1 << 20 ? in_table : in_other;
      EXPECT_EQ(stack.find(at), stack.find("line")) << stack;
    }
  }
}

TEST(TorchBlocks, AProgramWithoutThemSaysNothing) {
  EXPECT_EQ(run_audited("clean").fact("allocator.PyTorch"), "");
  EXPECT_EQ(run_audited("clean").fact("torch.blocks"), "");
}

}  // namespace
}  // namespace capgate::test
