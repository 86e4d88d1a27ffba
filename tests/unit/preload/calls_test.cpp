// Each call is recorded once, with its operands, its place and its result.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "tests/unit/preload/audited.h"

namespace capgate::test {
namespace {

using trace::CallRecord;
using trace::Family;
using trace::RecordType;

std::set<uint64_t> values(const std::vector<CallRecord>& all, uint64_t CallRecord::* field) {
  std::set<uint64_t> out;
  for (const auto& call : all) out.insert(call.*field);
  return out;
}

TEST(Preload, ACleanCaptureIsWholeInTheTrace) {
  const Audited run = run_audited("clean");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  ASSERT_EQ(run.traces.size(), 1u);
  const auto& trace = run.only();
  EXPECT_EQ(trace.file.header.state, uint32_t(trace::FileState::closed));
  EXPECT_EQ(trace.file.header.dropped, 0u);
  EXPECT_EQ(trace.file.header.events, trace.file.records.size());
  EXPECT_EQ(trace.fact("cupti.state"), "attached");
  EXPECT_EQ(trace.fact("cupti.proof"), "a callback arrived");
  EXPECT_EQ(trace.fact("gpu.0"), "Fake GPU|90|07070707070707070707070707070707");
  const auto captures = records<trace::CaptureRecord>(trace, RecordType::capture);
  ASSERT_EQ(captures.size(), 1u);
  EXPECT_EQ(captures[0].nodes, 3u);
  EXPECT_EQ(captures[0].edges, 2u);
  EXPECT_EQ(captures[0].truncated, 0u);
  EXPECT_EQ(captures[0].result, 0);
  const auto begin = calls(trace, "cudaStreamBeginCapture");
  ASSERT_EQ(begin.size(), 1u);
  EXPECT_EQ(captures[0].begin_seq, begin[0].h.seq);
  EXPECT_EQ(captures[0].capture_id, begin[0].capture_id);
  EXPECT_EQ(records<trace::NodeRecord>(trace, RecordType::node).size(), 3u);
  EXPECT_EQ(records<trace::GraphEdgeRecord>(trace, RecordType::graph_edge).size(), 2u);
  EXPECT_EQ(records<trace::EndRecord>(trace, RecordType::end).size(), 1u);
  for (const CallRecord& call : calls(trace)) {
    EXPECT_EQ(call.result, 0) << trace.text(call.name);
    EXPECT_GT(call.seq_end, call.h.seq);
    EXPECT_GE(call.t_end_ns, call.t_begin_ns);
    EXPECT_EQ(call.device, 0);
  }
}

TEST(Preload, KernelParametersAreInTheGraphNodes) {
  const Audited run = run_audited("clean");
  size_t kernels = 0;
  const trace::RawFile& file = run.only().file;
  for (const auto& record : file.records) {
    trace::GraphNodeRecord node{};
    std::memcpy(&node, file.bytes.data() + record.offset, std::min<size_t>(record.bytes, sizeof node));
    if (RecordType(node.h.type) != RecordType::graph_node || node.kind != 0) continue;
    EXPECT_EQ(run.only().text(node.name), "decode_kernel");
    ASSERT_EQ(node.param_count, 2u);
    ASSERT_EQ(node.param_bytes, 12u);
    const auto* layout = file.bytes.data() + record.offset + sizeof node;
    uint64_t first = 0;
    uint32_t second = 0;
    std::memcpy(&first, layout + 16, 8);
    std::memcpy(&second, layout + 24, 4);
    EXPECT_EQ(first, kernels == 0 ? 0xabcdefu : 0x1234u);
    EXPECT_EQ(second, kernels == 0 ? 42u : 43u);
    EXPECT_EQ(node.grid[0], 4u);
    EXPECT_EQ(node.block[0], 128u);
    ++kernels;
  }
  EXPECT_EQ(kernels, 2u);
}

TEST(Preload, OneUserCallIsOneRecord) {
  const Audited run = run_audited("clean");
  EXPECT_EQ(calls(run.only(), "cuMemAlloc_v2").size(), 0u);
  EXPECT_EQ(calls(run.only(), "cudaMalloc").size(), 1u);
  EXPECT_EQ(calls(run.only(), "cudaMemcpyAsync").size(), 1u);
  EXPECT_EQ(calls(run.only(), "cudaGraphLaunch").size(), 3u);
}

TEST(Preload, StacksHoldTheProgramsFramesAndNoneOfOurs) {
  const Audited run = run_audited("broken");
  const auto& trace = run.only();
  ASSERT_FALSE(trace.process.stacks.empty());
  for (const auto& [id, stack] : trace.process.stacks) {
    ASSERT_FALSE(stack.empty());
    bool program = false;
    for (const uint64_t ip : stack) {
      EXPECT_EQ(trace.place(ip).find("libcapgate_preload"), std::string::npos);
      program |= trace.place(ip).rfind("capgate_fake_program+", 0) == 0;
    }
    EXPECT_TRUE(program);
  }
}

TEST(Preload, ADeepStackIsCutAndMarked) {
  const Audited run = run_audited("deep");
  const auto sync = calls(run.only(), "cudaStreamSynchronize");
  ASSERT_EQ(sync.size(), 1u);
  EXPECT_TRUE(sync[0].flags & trace::kStackTruncated);
  EXPECT_EQ(run.only().process.stacks.at(sync[0].stack).size(), 96u);
}

TEST(Preload, OperandsOfCopiesAreClassified) {
  const Audited run = run_audited("pageable");
  const auto copies = calls(run.only(), "cudaMemcpyAsync");
  ASSERT_EQ(copies.size(), 3u);
  using trace::HostPlace;
  const HostPlace expected[] = {HostPlace::stack, HostPlace::module_data, HostPlace::heap};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(copies[i].src_memory, uint8_t(trace::Memory::pageable));
    EXPECT_EQ(copies[i].src_place, uint8_t(expected[i])) << i;
    EXPECT_EQ(copies[i].dst_memory, uint8_t(trace::Memory::device));
    EXPECT_EQ(copies[i].arg, 1u);
  }
  const auto sync = calls(run.only(), "cudaMemcpy");
  ASSERT_EQ(sync.size(), 1u);
  EXPECT_TRUE(sync[0].flags & trace::kLegacyStream);
  EXPECT_EQ(sync[0].capture_status, 255) << "the legacy stream must not be asked";
  size_t nodes = 0;
  for (const auto& node : records<trace::GraphNodeRecord>(run.only(), RecordType::graph_node)) {
    EXPECT_EQ(node.src_place, uint8_t(expected[nodes]));
    EXPECT_EQ(node.src_memory, uint8_t(trace::Memory::pageable));
    ++nodes;
  }
  EXPECT_EQ(nodes, 3u);
}

TEST(Preload, ALaunchOnTheDefaultStreamDuringOnesOwnCaptureHasAStack) {
  const Audited run = run_audited("pageable");
  const auto launches = calls(run.only(), "cudaLaunchKernel");
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_TRUE(launches[0].flags & trace::kLegacyStream);
  EXPECT_NE(launches[0].stack, 0u);
  EXPECT_EQ(run.only().text(launches[0].label), "on_default_stream");
  EXPECT_EQ(launches[0].grid[0], 4u);
  EXPECT_EQ(launches[0].grid[1], 2u);
  EXPECT_EQ(launches[0].block[0], 128u);
}

TEST(Preload, ALaunchIntoTheCaptureHasNone) {
  const Audited run = run_audited("clean");
  for (const CallRecord& launch : calls(run.only(), "cudaLaunchKernel")) {
    EXPECT_EQ(launch.stack, 0u);
    EXPECT_EQ(launch.capture_status, 1);
  }
}

TEST(Preload, OutsideEverythingCallsAreOnlyCounted) {
  const Audited run = run_audited("outside");
  EXPECT_EQ(calls(run.only(), "cudaMemcpyAsync").size(), 0u);
  EXPECT_EQ(calls(run.only(), "cudaLaunchKernel").size(), 0u);
  EXPECT_EQ(calls(run.only(), "cudaMalloc").size(), 1u);
  EXPECT_EQ(counter(run.only(), "call:cudaMemcpyAsync"), 100u);
  EXPECT_EQ(counter(run.only(), "call:cudaStreamQuery"), 100u);
  EXPECT_EQ(counter(run.only(), "call:cudaStreamSynchronize"), 100u);
}

TEST(Preload, VariantsAndDirectDriverCallsAreSeen) {
  const Audited run = run_audited("variants");
  const auto& trace = run.only();
  const auto ptsz = calls(trace, "cudaStreamSynchronize_ptsz");
  ASSERT_EQ(ptsz.size(), 1u);
  EXPECT_EQ(ptsz[0].family, uint16_t(Family::stream_sync));
  EXPECT_TRUE(ptsz[0].flags & trace::kPerThreadStream);
  EXPECT_FALSE(ptsz[0].flags & trace::kLegacyStream);
  const auto plain = calls(trace, "cudaStreamSynchronize");
  ASSERT_EQ(plain.size(), 1u);
  EXPECT_TRUE(plain[0].flags & trace::kLegacyStream);
  ASSERT_EQ(calls(trace, "cuStreamSynchronize").size(), 1u);
  const auto loads = calls(trace, "cuModuleLoadData");
  ASSERT_EQ(loads.size(), 2u);
  const auto modules = records<trace::ObjectRecord>(trace, RecordType::module_load);
  ASSERT_EQ(modules.size(), 2u);
  // In a sampled step and in a capture the launch around it is watched.
  const auto launches = calls(trace, "cudaLaunchKernel");
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_NE(launches[0].stack, 0u);
  EXPECT_EQ(modules[0].flags, 4096u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(loads[i].flags & trace::kNested);
    EXPECT_EQ(trace.text(loads[i].outer_name), "cudaLaunchKernel");
    EXPECT_EQ(modules[i].call_seq, launches[i].h.seq);
  }
}

TEST(Preload, CallsNewerThanTheHeadersAreWatchedByNameOrCounted) {
  const Audited run = run_audited("variants");
  const auto newer = calls(run.only(), "cudaStreamSynchronize_v99000");
  ASSERT_EQ(newer.size(), 1u);
  EXPECT_EQ(newer[0].family, uint16_t(Family::stream_sync));
  bool counted = false;
  for (const auto& [id, text] : run.only().process.strings)
    counted |= text.rfind("unknown-cbid:runtime:", 0) == 0 && text.find("cudaTeleport") != std::string::npos;
  EXPECT_TRUE(counted);
}

TEST(Preload, TheThreadsModeIsKnown) {
  const Audited run = run_audited("relaxed");
  const auto mallocs = calls(run.only(), "cudaMalloc");
  ASSERT_EQ(mallocs.size(), 2u);
  EXPECT_EQ(mallocs[0].thread_mode, 2);
  EXPECT_EQ(mallocs[1].thread_mode, 0);
}

TEST(Preload, ManyThreads) {
  const Audited run = run_audited("threads");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.only().file.header.dropped, 0u);
  EXPECT_EQ(calls(run.only(), "cudaStreamSynchronize").size(), 48u * 20u);
  EXPECT_EQ(records<trace::RegionRecord>(run.only(), RecordType::region).size(), 48u * 40u);
  std::set<uint32_t> threads;
  for (const auto& record : run.only().file.records) threads.insert(record.tid);
  EXPECT_EQ(threads.size(), 49u);
}

TEST(Preload, SeveralCapturesAtOnce) {
  const Audited run = run_audited("captures");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto captures = records<trace::CaptureRecord>(run.only(), RecordType::capture);
  ASSERT_EQ(captures.size(), 40u);
  std::set<uint64_t> ids;
  for (const auto& capture : captures) {
    EXPECT_EQ(capture.nodes, 1u);
    ids.insert(capture.capture_id);
  }
  EXPECT_EQ(ids.size(), 40u);
  EXPECT_EQ(values(calls(run.only(), "cudaStreamBeginCapture"), &CallRecord::capture_id), ids);
}

TEST(Preload, ExitsWithoutEntersAreSurvived) {
  const Audited run = run_audited("enters_missed");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(calls(run.only(), "cudaStreamSynchronize").size(), 1u);
  EXPECT_EQ(calls(run.only(), "cudaStreamSynchronize")[0].result, 0);
  EXPECT_GE(counter(run.only(), "enter-missed"), 1u);
}

TEST(Preload, LaunchIdsGoOffAfterACaptureAndCallsAreNotNestedForEver) {
  const Audited run = run_audited("in_flight");
  const auto& trace = run.only();
  const auto launches = calls(trace, "cudaLaunchKernel");
  ASSERT_EQ(launches.size(), 3u);
  EXPECT_EQ(trace.text(launches[0].label), "seen");
  EXPECT_EQ(trace.text(launches[1].label), "in a step");
  EXPECT_EQ(trace.text(launches[2].label), "seen again");
  const auto sync = calls(trace, "cudaStreamSynchronize");
  ASSERT_EQ(sync.size(), 1u);
  EXPECT_FALSE(sync[0].flags & trace::kNested);
}

TEST(Preload, ACallThatIsLeftByLongjmpHidesNothing) {
  const Audited run = run_audited("longjmp");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto sync = calls(run.only(), "cudaStreamSynchronize");
  ASSERT_EQ(sync.size(), 1u);
  EXPECT_FALSE(sync[0].flags & trace::kNested);
  EXPECT_EQ(calls(run.only(), "cuStreamSynchronize").size(), 1u)
      << "the nested one of the second call is part of it";
}

TEST(Preload, ErrnoBelongsToTheProgram) {
  EXPECT_EQ(run_audited("errno").exit_code, 0);
}

}  // namespace

}  // namespace capgate::test
