// What a report says of how closely the memory of graphs was watched.
#include <algorithm>

#include "tests/unit/analysis/freed_memory.h"

namespace capgate::test {
namespace {

using reports::MemoryWatched;
using reports::ReplayCoverage;

class WatchedMemory : public FreedMemory {
 protected:
  bool not_checked(const reports::Report& report, const std::string& gap) {
    const auto& gaps = report.coverage.not_checked;
    return std::find(gaps.begin(), gaps.end(), gap) != gaps.end();
  }
};

TEST_F(WatchedMemory, EveryBlockOfAProgramThatAsksCudaAlone) {
  born();
  captured();
  launched(3);
  EXPECT_EQ(report().coverage.replay, (ReplayCoverage{1, 3, MemoryWatched::blocks, {}}));
}

TEST_F(WatchedMemory, WithoutALaunchThereIsNothingToSay) {
  born();
  captured();
  EXPECT_FALSE(report().coverage.replay);
}

TEST_F(WatchedMemory, PyTorchsBlocksCountWhenTheTraceHasThem) {
  for (const std::string state : {"followed", "lost: there was no room for all of them", ""}) {
    TraceBuilder other;
    ProcessBuilder& b = other.process();
    b.meta("allocator.PyTorch", "libc10_cuda.so");
    if (!state.empty()) b.meta("torch.blocks", state);
    b.healthy_capture();
    b.replay();
    b.end();
    const auto report = other.report();
    const bool seen = state == "followed";
    EXPECT_EQ(report.coverage.replay, seen ? (ReplayCoverage{1, 1, MemoryWatched::blocks, {}})
                                           : (ReplayCoverage{1, 1, MemoryWatched::segments, {"PyTorch"}}));
    EXPECT_EQ(not_checked(report,
                          "memory that PyTorch's allocator takes back while a graph refers to it: " +
                              (state.empty() ? "the trace has no blocks of it" : "its blocks are " + state)),
              !seen);
  }
}

TEST_F(WatchedMemory, AnAllocatorThatNobodyFollowsIsNamed) {
  p.meta("allocator.CuPy", "cupy/cuda/memory.cpython-312-x86_64-linux-gnu.so");
  p.meta("allocator.RMM", "librmm.so");
  born();
  captured();
  launched();
  const auto report = this->report();
  EXPECT_EQ(report.coverage.replay, (ReplayCoverage{1, 1, MemoryWatched::segments, {"CuPy", "RMM"}}));
  EXPECT_TRUE(not_checked(report,
                          "memory that CuPy's allocator takes back while a graph refers to it: the trace has "
                          "no blocks of it"));
}

// A trace of version 1 does not name allocators; its frames do.
TEST_F(WatchedMemory, APackagesFramesNameItsAllocator) {
  p.in_frames({{"cupy/_creation/basic.py", "zeros"}, {"step.py", "make"}});
  p.malloc(kBytes).out = kBlock;
  captured();
  launched();
  EXPECT_EQ(report().coverage.replay, (ReplayCoverage{1, 1, MemoryWatched::segments, {"CuPy"}}));
}

TEST_F(WatchedMemory, RecordsThatWereThinnedWatchNothing) {
  born();
  captured();
  launched();
  p.count("thinned:room", 7);
  const auto report = this->report();
  EXPECT_EQ(report.coverage.replay, (ReplayCoverage{1, 1, MemoryWatched::no, {}}));
  EXPECT_TRUE(not_checked(report, "memory: whether what a graph refers to lives as long as the graph"));
}

TEST_F(WatchedMemory, TheProcessThatWasWatchedTheLeastDecides) {
  for (const uint32_t pid : {200u, 300u, 400u}) {
    ProcessBuilder& b = trace.process(pid);
    if (pid == 300) b.meta("allocator.JAX", "xla_cuda_plugin.so");
    b.healthy_capture();
    if (pid != 400) b.replay();
    b.end();
  }
  EXPECT_EQ(report().coverage.replay, (ReplayCoverage{2, 2, MemoryWatched::segments, {"JAX"}}));
}

}  // namespace
}  // namespace capgate::test
