// Which launches use memory that is no longer what the graph was made with.
#include <ctime>
#include <functional>

#include "detector/analysis/analyze.h"
#include "tests/unit/analysis/freed_memory.h"

namespace capgate::test {
namespace {

using reports::Severity;
using reports::Verdict;

TEST_F(FreedMemory, ALaunchAfterTheFreeIsAnErrorWithThreeStacks) {
  born();
  captured();
  launched(2);
  died();
  launched(3);
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{"error freed-memory step.cpp:40 grow"}) << text(report);
  const auto fault = only(report, "freed-memory");
  EXPECT_EQ(fault.message,
            "frees 4096 bytes of device memory that the kernel scale of capture 1 of s1 uses: the graph was "
            "launched 3 "
            "times since with that node");
  EXPECT_EQ(roles(fault), (std::vector<std::string>{"allocated", "captured", "freed"}));
  EXPECT_EQ(fault.details.at("allocated at"), "step.cpp:10");
  EXPECT_EQ(fault.details.at("captured at"), "step.cpp:21");
  EXPECT_EQ(fault.details.at("launched at"), "step.cpp:50");
  EXPECT_EQ(fault.details.at("parameter"), "2");
  EXPECT_EQ(fault.details.at("now"), "nothing");
  EXPECT_EQ(fault.phase, reports::Phase::replay);
  EXPECT_EQ(report.verdict, Verdict::fail);
}

TEST_F(FreedMemory, MemoryThatLivesThroughEveryLaunchIsSilent) {
  born();
  captured();
  launched(3);
  died();
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{}) << text(report);
  EXPECT_EQ(report.verdict, Verdict::pass);
}

TEST_F(FreedMemory, AnAddressBesideTheBlockIsNotTheBlock) {
  for (const uint64_t address : {kBlock - 1, kBlock + kBytes}) {
    TraceBuilder other;
    ProcessBuilder& b = other.process();
    b.malloc(kBytes).out = kBlock;
    b.begin_capture();
    const uint64_t maker = b.launch(kStream).h.seq;
    b.end_capture();
    b.kernel_node(kGraph, 0xb000, maker, "scale", {address});
    b.instantiate();
    b.free().dst = kBlock;
    b.replay();
    b.end();
    EXPECT_EQ(faults(other.report()), Faults{});
  }
}

TEST_F(FreedMemory, AnotherOwnerAtTheAddressIsAnError) {
  struct Case {
    uint64_t address, bytes;
    int line;
  };
  const Case cases[] = {{kBlock, kBytes, 11}, {kBlock, 2 * kBytes, 10}, {kBlock - 4096, 8192 + kBytes, 10}};
  for (const auto& c : cases) {
    TraceBuilder other;
    ProcessBuilder& b = other.process();
    b.at("step.cpp", 10, "make");
    b.malloc(kBytes).out = kBlock;
    b.begin_capture();
    const uint64_t maker = b.launch(kStream).h.seq;
    b.end_capture();
    b.kernel_node(kGraph, 0xb000, maker, "scale", {kBlock});
    b.instantiate();
    b.at("step.cpp", 40, "grow");
    b.free().dst = kBlock;
    b.at("step.cpp", c.line, "make");
    b.malloc(c.bytes).out = c.address;
    b.at("step.cpp", 50, "decode");
    b.replay();
    b.end();
    const auto report = other.report();
    EXPECT_EQ(faults(report), Faults{"error freed-memory step.cpp:40 grow"}) << text(report);
    EXPECT_EQ(
        report.violations[0].details.at("now"),
        std::to_string(c.bytes) + " bytes of device memory, allocated at step.cpp:" + std::to_string(c.line));
  }
}

TEST_F(FreedMemory, TheSameBlockAgainIsANote) {
  born();
  captured();
  launched();
  died();
  born();
  launched(3);
  auto report = this->report();
  EXPECT_EQ(faults(report), Faults{"note freed-memory step.cpp:10 make"}) << text(report);
  EXPECT_EQ(report.verdict, Verdict::pass);
}

// A program that checks addresses is followed further: the second block is now the graph's.
TEST_F(FreedMemory, TheBlockThatCameBackIsFollowedToo) {
  born();
  captured();
  launched();
  died();
  born();
  launched();
  died(kBlock, 41);
  launched(2);
  const auto report = this->report();
  EXPECT_EQ(faults(report),
            (Faults{"error freed-memory step.cpp:41 grow", "note freed-memory step.cpp:10 make"}))
      << text(report);
}

TEST_F(FreedMemory, AGraphThatIsKeptAndNotLaunchedIsAWarningWhileOthersAre) {
  born();
  born(kBlock + 0x100000, kBytes, 12);
  captured(kBlock, kGraph, kExec);
  captured(kBlock + 0x100000, kGraph + 1, kExec + 1);
  launched(1, kExec);
  launched(1, kExec + 1);
  died();
  launched(2, kExec + 1);
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{"warning freed-memory step.cpp:40 grow"}) << text(report);
  EXPECT_EQ(report.verdict, Verdict::pass);
}

TEST_F(FreedMemory, AGraphThatWasDestroyedLosesNothing) {
  born();
  born(kBlock + 0x100000, kBytes, 12);
  captured(kBlock, kGraph, kExec);
  captured(kBlock + 0x100000, kGraph + 1, kExec + 1);
  launched(1, kExec);
  p.call(Family::graph_exec_destroy, "cudaGraphExecDestroy").object = kExec;
  died();
  launched(2, kExec + 1);
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{}) << text(report);
}

TEST_F(FreedMemory, CopiesAndMemsetsHoldTheirOperands) {
  born();
  born(kBlock + 0x100000, kBytes, 12);
  p.at("step.cpp", 20, "record");
  p.begin_capture();
  const uint64_t maker = p.copy_async(kStream, Memory::device, Memory::device, 64).h.seq;
  p.end_capture();
  p.copy_node(kGraph, 0xb000, maker, kBlock, Memory::device, kBlock + 0x100000, Memory::device,
              HostPlace::unknown, 64);
  p.instantiate();
  died(kBlock, 40);
  died(kBlock + 0x100000, 41);
  launched();
  const auto report = this->report();
  EXPECT_EQ(faults(report),
            (Faults{"error freed-memory step.cpp:40 grow", "error freed-memory step.cpp:41 grow"}))
      << text(report);
}

TEST_F(FreedMemory, EveryKindOfMemoryHasItsOwnEnd) {
  struct Case {
    const char* name;
    std::function<void(ProcessBuilder&)> born, died;
    const char* memory;
  };
  const Case cases[] = {
      {"stream-ordered", [](auto& b) { b.malloc_async(kSide, kBlock, kBytes); },
       [](auto& b) { b.on_stream(Family::free_async, "cudaFreeAsync", kSide).dst = kBlock; },
       "stream-ordered"},
      {"stream-ordered, freed at once", [](auto& b) { b.malloc_async(kSide, kBlock, kBytes); },
       [](auto& b) { b.free().dst = kBlock; }, "stream-ordered"},
      {"pinned", [](auto& b) { b.malloc_host(kBytes).out = kBlock; },
       [](auto& b) { b.call(Family::free_host, "cudaFreeHost").dst = kBlock; }, "pinned"},
      {"registered",
       [](auto& b) {
         CallRecord& call = b.call(Family::host_register, "cudaHostRegister");
         call.dst = kBlock;
         call.bytes = kBytes;
       },
       [](auto& b) { b.call(Family::host_unregister, "cudaHostUnregister").dst = kBlock; }, "registered"},
      {"mapped",
       [](auto& b) {
         CallRecord& call = b.call(Family::vmm, "cuMemMap");
         call.dst = kBlock;
         call.bytes = kBytes;
       },
       [](auto& b) {
         CallRecord& call = b.call(Family::vmm, "cuMemUnmap");
         call.dst = kBlock - kBytes;  // a range over more than the one mapping
         call.bytes = 4 * kBytes;
       },
       "mapping"},
      {"of another process",
       [](auto& b) {
         CallRecord& call = b.call(Family::peer, "cudaIpcOpenMemHandle");
         call.out = kBlock;
         call.bytes = kBytes;
       },
       [](auto& b) { b.call(Family::peer, "cudaIpcCloseMemHandle").dst = kBlock; }, "peer"},
      {"an array", [](auto& b) { b.call(Family::alloc_device, "cudaMallocArray").out = kBlock; },
       [](auto& b) { b.call(Family::free_device, "cudaFreeArray").dst = kBlock; }, "array"}};
  for (const auto& c : cases) {
    TraceBuilder other;
    ProcessBuilder& b = other.process();
    b.at("step.cpp", 10, "make");
    c.born(b);
    b.begin_capture();
    const uint64_t maker = b.copy_async(kStream, Memory::device, Memory::device, 64).h.seq;
    b.end_capture();
    const bool array = std::string_view(c.memory) == "array";
    b.copy_node(kGraph, 0xb000, maker, kBlock, array ? Memory::array : Memory::device, 0x500000,
                Memory::device, HostPlace::unknown, 64);
    b.instantiate();
    b.replay();
    b.at("step.cpp", 40, "grow");
    c.died(b);
    b.at("step.cpp", 50, "decode");
    b.replay();
    b.end();
    const auto report = other.report();
    EXPECT_EQ(faults(report), Faults{"error freed-memory step.cpp:40 grow"}) << c.name << text(report);
    EXPECT_EQ(only(report, "freed-memory").details.at("memory"), c.memory) << c.name;
  }
}

// What does not end a block: a refused free, a free that was captured, physical memory released while it is
// mapped.
TEST_F(FreedMemory, CallsThatEndNothing) {
  const std::function<void(ProcessBuilder&)> cases[] = {
      [](auto& b) { b.free(1).dst = kBlock; },
      [](auto& b) { b.free().dst = kBlock + 8; },
      [](auto& b) { b.free(); },
      [](auto& b) { b.call(Family::free_device, "cuMemRelease").dst = kBlock; },
      [](auto& b) {
        CallRecord& call = b.call(Family::vmm, "cuMemSetAccess");
        call.dst = kBlock;
        call.bytes = kBytes;
      },
      [](auto& b) {
        b.begin_capture(kSide);
        b.on_stream(Family::free_async, "cudaFreeAsync", kSide).dst = kBlock;
        b.end_capture(kSide, 1, 0, kGraph + 7);
      }};
  for (const auto& ends_nothing : cases) {
    TraceBuilder other;
    ProcessBuilder& b = other.process();
    b.malloc(kBytes).out = kBlock;
    b.begin_capture();
    const uint64_t maker = b.launch(kStream).h.seq;
    b.end_capture();
    b.kernel_node(kGraph, 0xb000, maker, "scale", {kBlock});
    b.instantiate();
    ends_nothing(b);
    b.replay();
    b.end();
    EXPECT_EQ(faults(other.report()), Faults{});
  }
}

// Another thread is given an address as soon as the first one's free has begun, before that call is back.
TEST_F(FreedMemory, AnAddressHandedOutWhileItsFreeReturnsIsTheNewOwners) {
  born();
  CallRecord& first = died();
  CallRecord& second = born(kBlock, kBytes, 12);
  std::swap(first.seq_end, second.seq_end);
  captured();
  launched();
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{}) << text(report);
}

// Memory that died in the capture itself, on a thread in relaxed mode.
TEST_F(FreedMemory, ABlockThatDiesBeforeItsCaptureEndsIsLostFromTheStart) {
  born();
  p.at("step.cpp", 20, "record");
  p.begin_capture(kStream, 2);
  const uint64_t maker = p.launch(kStream).h.seq;
  p.thread_mode(2);
  died();
  p.thread_mode(0);
  p.end_capture();
  p.kernel_node(kGraph, 0xb000, maker, "scale", {kBlock});
  p.instantiate();
  launched();
  const auto report = this->report();
  const auto fault = only(report, "freed-memory");
  EXPECT_EQ(fault.severity, Severity::error);
  EXPECT_EQ(fault.location.line, 40);
}

TEST_F(FreedMemory, OneFreeUnderManyGraphsIsOneFinding) {
  born();
  for (uint64_t i = 0; i < 5; ++i) captured(kBlock, kGraph + i, kExec + i);
  died();
  for (uint64_t i = 0; i < 5; ++i) launched(1, kExec + i);
  EXPECT_EQ(only(report(), "freed-memory").count, 5u);
}

// The code and the variables of a module go with it.
TEST_F(FreedMemory, AModuleThatIsUnloadedTakesItsKernelsAndVariablesAway) {
  constexpr uint64_t kModule = 0x6000;
  for (const bool variable : {false, true}) {
    TraceBuilder other;
    ProcessBuilder& b = other.process();
    b.at("step.cpp", 10, "load");
    b.call(Family::module_load, "cuModuleLoadData").out = kModule;
    for (int asked = 0; asked < 2; ++asked) {
      CallRecord& global = b.call(Family::module_global, "cuModuleGetGlobal_v2");
      global.object = kModule;
      global.out = kBlock;
      global.bytes = kBytes;
    }
    b.begin_capture();
    const uint64_t maker = b.launch(kStream).h.seq;
    b.end_capture();
    b.kernel_node(kGraph, 0xb000, maker, "scale", {variable ? kBlock + 8 : 7}, variable ? 0 : kModule);
    b.instantiate();
    b.replay();
    b.call(Family::module_unload, "cuModuleUnload").object = kModule + 1;
    b.replay();
    b.at("step.cpp", 40, "reload");
    b.call(Family::module_unload, "cuModuleUnload").object = kModule;
    b.replay();
    b.end();
    const auto report = other.report();
    const auto fault = only(report, "freed-memory");
    EXPECT_EQ(fault.location.line, 40);
    EXPECT_EQ(fault.details.at("memory"), "module");
    EXPECT_EQ(fault.situation, "freed-memory.module-unloaded");
    EXPECT_EQ(fault.message,
              variable ? "unloads a module's variable that the kernel scale of capture 1 of s1 "
                         "uses: the graph was launched once since with that node"
                       : "unloads the module that the kernel scale of capture 1 of s1 uses: the graph was "
                         "launched once since with that node");
  }
}

// PyTorch's kernels take their pointers in structures; a word of one may as well be what lay on the stack.
TEST_F(FreedMemory, AWordInsideAStructureIsANote) {
  for (const bool also_whole : {false, true}) {
    TraceBuilder other;
    ProcessBuilder& b = other.process();
    b.malloc(kBytes).out = kBlock;
    b.begin_capture();
    const uint64_t maker = b.launch(kStream).h.seq;
    b.end_capture(kStream, 2);
    b.struct_node(kGraph, 0xb000, maker, "gather", {3, kBlock + 16, 0});
    if (also_whole) b.kernel_node(kGraph, 0xb001, maker, "scale", {kBlock});
    b.instantiate();
    b.at("step.cpp", 40, "grow");
    b.free().dst = kBlock;
    b.replay();
    b.end();
    const auto report = other.report();
    const auto fault = only(report, "freed-memory");
    EXPECT_EQ(fault.severity, also_whole ? Severity::error : Severity::note);
    EXPECT_EQ(fault.message,
              also_whole ? "frees 4096 bytes of device memory that the kernel scale of capture 1 of s1 uses: "
                           "the graph was launched once since with that node"
                         : "frees 4096 bytes of device memory that the kernel gather of capture 1 of s1 "
                           "seems to use: the graph was launched once since with that node");
    EXPECT_EQ(fault.situation, also_whole ? "freed-memory.device-memory" : "freed-memory.seems-used");
  }
}

// The launch may be the last thing that the program did.
TEST_F(FreedMemory, ALaunchThatFailedOrNeverCameBackCounts) {
  for (const int32_t result : {700, trace::kPending}) {
    TraceBuilder other;
    ProcessBuilder& b = other.process();
    b.malloc(kBytes).out = kBlock;
    b.begin_capture();
    const uint64_t maker = b.launch(kStream).h.seq;
    b.end_capture();
    b.kernel_node(kGraph, 0xb000, maker, "scale", {kBlock});
    b.instantiate();
    b.replay();
    b.at("step.cpp", 40, "grow");
    b.free().dst = kBlock;
    b.replay().result = result;
    const auto fault = only(other.report(), "freed-memory");
    EXPECT_EQ(fault.severity, Severity::error);
    EXPECT_EQ(fault.location.line, 40);
  }
}

// A launch costs what has changed since the last one.
TEST_F(FreedMemory, TwentyThousandNodesLaunchedTenThousandTimesAreJudgedInTime) {
  constexpr int kNodes = 20000, kLaunches = 10000;
  for (uint64_t i = 0; i < 64; ++i) born(kBlock + i * 0x100000, kBytes, 10);
  p.at("step.cpp", 20, "record");
  p.begin_capture();
  const uint64_t maker = p.launch(kStream).h.seq;
  p.end_capture(kStream, kNodes);
  for (uint64_t i = 0; i < kNodes; ++i)
    p.kernel_node(kGraph, 0xb000 + i, i == 0 ? maker : 0, "scale",
                  {kBlock + i % 64 * 0x100000, kBlock + (i + 1) % 64 * 0x100000, i});
  p.instantiate();
  launched(kLaunches / 2);
  died();
  launched(kLaunches / 2);
  p.end();
  EXPECT_LE(p.file().size(), size_t{20} << 20);
  const auto sealed = trace.sealed();
  const std::clock_t begin = std::clock();  // of the processor: other programs do not count
  const auto report = analysis::analyze(sealed);
  EXPECT_LE(std::clock() - begin, 5 * CLOCKS_PER_SEC);
  EXPECT_EQ(only(report, "freed-memory").details.at("launches"), std::to_string(kLaunches / 2));
}

}  // namespace
}  // namespace capgate::test
