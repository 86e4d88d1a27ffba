// Blocks of PyTorch's allocator that a graph keeps.
#include "tests/unit/analysis/freed_memory.h"

namespace capgate::test {
namespace {

using reports::Severity;

// PyTorch's allocator: segments of CUDA's, blocks of its own in them.
class TorchBlocks : public FreedMemory {
 protected:
  static constexpr uint64_t kSegment = 0x7f0000000000, kSegmentBytes = 2 << 20;
  static constexpr uint64_t kTable = kSegment + 0x1000;

  void segment(uint64_t address = kSegment) {
    p.in_python("model.py", 3, "load", "libc10_cuda.so", "cudaMalloc");
    p.malloc(kSegmentBytes).out = address;
  }
  void table(int line = 10, uint64_t address = kTable, uint64_t bytes = kBytes) {
    p.in_python("model.py", line, "split_table", "libc10_cuda.so", "malloc");
    p.pool_block(trace::BlockOp::born, address, bytes);
  }
  void dropped(uint64_t address = kTable, int line = 40) {
    p.in_python("model.py", line, "serve", "libc10_cuda.so", "free");
    p.pool_block(trace::BlockOp::died, address, kBytes);
  }
};

TEST_F(TorchBlocks, ATensorThatIsDroppedIsNamedWithItsThreeLines) {
  segment();
  table();
  captured(kTable + 8);
  launched();
  dropped();
  table(60);
  launched(3);
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{"error freed-memory model.py:40 serve"}) << text(report);
  const auto fault = only(report, "freed-memory");
  EXPECT_EQ(roles(fault), (std::vector<std::string>{"allocated", "captured", "freed"}));
  EXPECT_EQ(fault.message,
            "drops 4096 bytes of a tensor's memory that the kernel scale of capture 1 of s1 uses: the graph "
            "was launched "
            "3 times since with that node; the address is now in 4096 bytes of a tensor's memory, allocated "
            "at model.py:60");
  EXPECT_EQ(fault.details.at("allocated at"), "model.py:10");
  EXPECT_EQ(fault.situation, "freed-memory.torch-tensor");
  EXPECT_FALSE(fault.api);
}

TEST_F(TorchBlocks, OtherTensorsOfTheSegmentMayComeAndGo) {
  segment();
  table();
  table(11, kTable + 2 * kBytes);
  captured(kTable);
  for (int i = 0; i < 3; ++i) {
    dropped(kTable + 2 * kBytes);
    table(11, kTable + 2 * kBytes);
    launched();
  }
  EXPECT_EQ(faults(report()), Faults{});
}

// What is allocated while capturing comes from a pool of the graphs: its blocks are handed out again and
// again.
TEST_F(TorchBlocks, ReuseInAPoolOfTheGraphsIsIntended) {
  segment();
  p.at("step.cpp", 20, "record");
  p.begin_capture();
  table();
  const uint64_t first = p.launch(kStream).h.seq;
  dropped();
  table(11);
  const uint64_t second = p.launch(kStream).h.seq;
  dropped();
  p.end_capture(kStream, 2);
  p.kernel_node(kGraph, 0xb000, first, "scale", {kTable});
  p.kernel_node(kGraph, 0xb001, second, "scale", {kTable});
  p.instantiate();
  launched(2);
  table(12);
  dropped();
  launched(2);
  auto report = this->report();
  EXPECT_EQ(faults(report), Faults{}) << text(report);
}

// A block that was there before the pool's first capture belongs to the pool all the same.
TEST_F(TorchBlocks, ABlockOfAPoolThatIsFilledBeforeItsFirstCaptureIsTheGraphs) {
  segment();
  table();
  captured(kTable);
  p.begin_capture();
  table(30, kTable + 4 * kBytes);
  p.launch(kStream);
  p.end_capture(kStream, 1, 0, kGraph + 1);
  dropped();
  launched();
  EXPECT_EQ(faults(report()), Faults{});
}

TEST_F(TorchBlocks, TheEndOfTheSegmentIsTheEndOfThePool) {
  segment();
  p.begin_capture();
  table();
  const uint64_t maker = p.launch(kStream).h.seq;
  p.end_capture();
  p.kernel_node(kGraph, 0xb000, maker, "scale", {kTable});
  p.instantiate();
  launched();
  p.in_python("model.py", 70, "shrink", "libc10_cuda.so", "cudaFree");
  p.free().dst = kSegment;
  launched();
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{"error freed-memory model.py:70 shrink"}) << text(report);
}

TEST_F(TorchBlocks, ATensorThatLivesWhenItsSegmentGoesIsGoneToo) {
  segment();
  table();
  captured(kTable);
  p.in_python("model.py", 70, "shrink", "libc10_cuda.so", "cudaFree");
  p.free().dst = kSegment;
  launched();
  const auto fault = only(report(), "freed-memory");
  EXPECT_EQ(fault.location.line, 70);
  EXPECT_EQ(fault.details.at("memory"), "torch");
}

// A living block is written when the capture begins, long after its birth.
TEST_F(TorchBlocks, ABirthIsOlderThanItsRecord) {
  segment();
  p.nowhere();
  const uint64_t born = p.malloc(64).h.seq;  // any record of that time
  p.begin_capture();
  p.in_python("model.py", 10, "split_table");
  p.pool_block(trace::BlockOp::born, kTable, kBytes, born);
  const uint64_t maker = p.launch(kStream).h.seq;
  p.end_capture();
  p.kernel_node(kGraph, 0xb000, maker, "scale", {kTable});
  p.instantiate();
  dropped();
  launched();
  EXPECT_EQ(only(report(), "freed-memory").severity, Severity::error);
}

}  // namespace
}  // namespace capgate::test
