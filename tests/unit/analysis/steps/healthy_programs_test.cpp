// What a healthy program does in and outside of captures, about which nothing is reported.
#include "reports/verdict/gaps.h"
#include "tests/unit/analysis/expect.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {
namespace {

using reports::Verdict;
using Faults = std::vector<std::string>;

// The first table of what healthy programs do, as far as it happens in or around a capture.
class Healthy : public testing::Test {
 protected:
  TraceBuilder trace;
  ProcessBuilder& p = trace.process();

  void capture_around(void (*inside)(ProcessBuilder&), uint64_t mode = 0) {
    p.in_python("layer.py", 10, "capture");
    p.device_sync();
    p.call(Family::free_device, "cudaFree");
    p.call(Family::free_host, "cudaFreeHost");
    p.begin_capture(kStream, mode);
    p.launch(kStream);
    inside(p);
    p.in_python("layer.py", 20, "capture");
    p.end_capture();
    p.instantiate();
    p.replay();
    p.end();
  }
  void silent() {
    const auto report = trace.report();
    EXPECT_EQ(faults(report), Faults{}) << text(report);
    EXPECT_EQ(report.verdict, Verdict::pass) << text(report);
  }
};

TEST_F(Healthy, CachingAllocatorInRelaxedMode) {
  capture_around([](ProcessBuilder& b) {
    b.thread_mode(2);
    b.in_python("layer.py", 15, "forward", "libc10_cuda.so", "c10::cuda::CUDACachingAllocator::raw_alloc");
    b.malloc(2 << 20);
    b.call(Family::vmm, "cuMemMap");
    b.in_python("layer.py", 15, "forward", "libtorch_cuda.so", "at::cuda::CachingHostAllocator");
    b.malloc_host(64);
    b.event_query(7);
    b.thread_mode(0);
  });
  silent();
}

TEST_F(Healthy, ExpandableSegments) {
  capture_around([](ProcessBuilder& b) {
    b.thread_mode(2);
    b.in_python("layer.py", 15, "forward", "libc10_cuda.so",
                "c10::cuda::CUDACachingAllocator::Native::(anonymous namespace)::ExpandableSegment::map");
    b.call(Family::vmm, "cuMemAddressReserve");
    b.call(Family::alloc_device, "cuMemCreate",
           800);  // a handle type that the system refuses: it takes another
    b.call(Family::alloc_device, "cuMemCreate");
    b.call(Family::vmm, "cuMemMap");
    b.call(Family::vmm, "cuMemSetAccess");
    b.thread_mode(0);
  });
  silent();
}

TEST_F(Healthy, MallocAsyncBackend) {
  capture_around([](ProcessBuilder& b) {
    constexpr uint64_t kPool = 0x7f0000000000, kDeviceToDevice = 3;
    b.malloc_async(kStream, kPool, 4096);
    auto& copy = b.copy_async(kStream, Memory::device, Memory::pageable, 4096, HostPlace::mapping);
    copy.src = kPool;
    copy.arg = kDeviceToDevice;
  });
  silent();
}

TEST_F(Healthy, NcclPlansInRelaxedMode) {
  capture_around([](ProcessBuilder& b) {
    constexpr uint64_t kNccl = 0x4000;
    b.thread_mode(2);
    b.in_library("libnccl.so.2", "ncclLaunchPrepare", "layer.cpp", 15, "all_reduce");
    b.on_stream(Family::alloc_async, "cudaMallocAsync", kNccl);
    b.copy_async(kNccl, Memory::device, Memory::pageable, 512, HostPlace::heap);
    b.record(77, kNccl);
    b.thread_mode(0);
  });
  silent();
}

TEST_F(Healthy, NcclHostNodeIsOneNote) {
  capture_around([](ProcessBuilder& b) {
    for (int line : {15, 16}) {
      b.in_library("libnccl.so.2", "ncclLaunchFinish", "layer.cpp", line, "all_reduce");
      b.on_stream(Family::host_func, "cudaLaunchHostFunc", kStream);
    }
  });
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"note host-node layer.cpp:15 all_reduce"}) << text(report);
}

TEST_F(Healthy, OtherThreadsOwnAndLegacyWork) {
  capture_around([](ProcessBuilder& b) {
    b.thread(300);
    b.at("telemetry.cpp", 5, "sample");
    b.launch(kSide);
    b.launch(0);
    b.copy(Memory::pageable, Memory::device, 4);
    b.launch(0x5000).stream_device = 1;
    b.thread(100);
  });
  silent();
}

TEST_F(Healthy, CublasWorkspaceAcceptedInTheCaptureIsANote) {
  capture_around(
      [](ProcessBuilder& b) {
        b.in_library("libcublas.so.13", "cublasGemmEx", "layer.cpp", 15, "gemm");
        b.malloc(32 << 20);
      },
      2);
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"note device-alloc layer.cpp:15 gemm"}) << text(report);
  EXPECT_EQ(report.verdict, Verdict::pass);
}

TEST_F(Healthy, FiftyOneBucketsAtStart) {
  for (uint64_t bucket = 0; bucket < 51; ++bucket) {
    p.in_python("runner.py", 100, "capture_model");
    p.device_sync();
    p.healthy_capture(kStream, kGraph + bucket, kExec + bucket);
  }
  p.replay(kExec);
  p.end();
  silent();
  // Nothing is particular to this run: what no run looks at is listed, and that alone.
  const auto report = trace.report();
  EXPECT_EQ(report.coverage.not_checked, reports::never_looked_at(report));
  EXPECT_EQ(report.coverage.sources_run, (std::vector<std::string>{"run.py", "runner.py"}));
}

// Loading weights, then an eager fallback after a capture that failed: one error, and it says what became of
// it.
TEST_F(Healthy, ACaptureThatFailedAndAProgramThatWentEager) {
  p.at("load.cpp", 5, "load_weights");
  for (int i = 0; i < 100; ++i) {
    p.copy(Memory::device, Memory::pageable, 1 << 20);
    p.copy_async(kStream, Memory::device, Memory::pageable, 1 << 20, HostPlace::heap);
  }
  p.at("runner.cpp", 10, "capture");
  p.begin_capture();
  p.call(Family::other, "cudaSomethingNew", 900);
  p.end_capture(kStream, 0, 901);
  p.at("runner.cpp", 30, "decode");
  for (int step = 0; step < 10; ++step) {
    p.launch(0);
    p.sync(0);
  }
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error capture-invalidated runner.cpp:10 capture"}) << text(report);
  EXPECT_EQ(only(report, "capture-invalidated").message.find("went eager"), std::string::npos);
}

TEST_F(Healthy, CapturedAndDiscardedGraphs) {
  for (int i = 0; i < 3; ++i) {
    p.in_python("profile.py", 10, "profile");
    p.begin_capture();
    p.launch(kStream);
    p.end_capture();
  }
  p.end();
  silent();
}

}  // namespace
}  // namespace capgate::test
