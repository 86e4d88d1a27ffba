// What a program marks, and what is recorded inside and outside of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "detector/trace/node_params.h"
#include "tests/unit/preload/audited.h"

namespace capgate::test {
namespace {

using trace::Family;
using trace::RecordType;

TEST(Preload, CodeThatALaunchOfAMarkedStepLoadsHasAPlace) {
  const Audited run = run_audited("lazy_loads");
  const auto modules = records<trace::ObjectRecord>(run.only(), RecordType::module_load);
  ASSERT_EQ(modules.size(), 3u);
  const auto loads = calls(run.only(), "lazy loading");
  ASSERT_EQ(loads.size(), 1u) << "outside nothing is judged, and in a capture the launch itself is recorded";
  EXPECT_EQ(loads[0].family, uint16_t(Family::module_load));
  EXPECT_EQ(loads[0].result, 0);
  EXPECT_NE(loads[0].stack, 0u);
  EXPECT_GT(loads[0].seq_end, loads[0].h.seq);
  EXPECT_EQ(modules[0].call_seq, 0u);
  EXPECT_EQ(modules[1].call_seq, loads[0].h.seq);
  EXPECT_EQ(modules[2].call_seq, 0u);
}

TEST(Preload, OnlySampledStepsSwitchIdsAndRecordLaunches) {
  const std::string cupti = std::string(FAKE_FOLDER) + "/libcupti.so.13";
  const Audited run =
      run_audited("marked_steps", {.env = {{"LD_PRELOAD", std::string(PRELOAD_LIBRARY) + ":" + cupti}}});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(calls(run.only(), "cudaStreamSynchronize").size(), 20u);
  // Of each sampled step, and of those alone.
  std::vector<uint32_t> values;
  for (const auto& [launch, tid] : run.only().process.eager_launches) {
    uint32_t value = 0;
    const auto params =
        trace::node_params(run.only().process, run.only().process.eager_launches[values.size()].r);
    ASSERT_EQ(params.size(), 2u);
    ASSERT_EQ(params[1].bytes.size(), sizeof value);
    std::memcpy(&value, params[1].bytes.data(), sizeof value);
    values.push_back(value);
    EXPECT_EQ(run.only().text(launch.name), "decode_kernel");
    EXPECT_EQ(launch.grid[1], 2u);
    EXPECT_EQ(launch.shared_bytes, 512u);
  }
  EXPECT_EQ(values, (std::vector<uint32_t>{0, 1, 2, 3, 7, 15}));
  const auto launches = calls(run.only(), "cudaLaunchKernel");
  ASSERT_EQ(launches.size(), values.size());
  for (size_t i = 0; i < launches.size(); ++i) {
    EXPECT_EQ(run.only().process.eager_launches[i].r.graph, launches[i].h.seq);
    EXPECT_NE(launches[i].stack, 0u);
  }
  std::vector<bool> sampled;
  for (const auto& [region, tid] : run.only().process.regions)
    if (region.op == uint16_t(trace::RegionOp::push))
      sampled.push_back((region.h.flags & trace::kSampledRegion) != 0);
  EXPECT_EQ(std::count(sampled.begin(), sampled.end(), true), 6);
  EXPECT_TRUE(sampled[7] && !sampled[8]);
}

TEST(Preload, StepsBehindAGraphsLaunchesAreSampled) {
  const Audited run = run_audited("steps_between_replays");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::vector<uint64_t> sampled;
  uint64_t number = 0;
  for (const auto& launch : calls(run.only(), "cudaGraphLaunch")) {
    ++number;
    if (launch.flags & trace::kSampledStep) sampled.push_back(number);
  }
  EXPECT_EQ(sampled, (std::vector<uint64_t>{1, 2, 3, 4, 8}));
  EXPECT_EQ(run.only().process.eager_launches.size(), 5u);
}

TEST(Preload, NvtxRangesOfEveryKind) {
  const Audited run = run_audited("nvtx", {.env = {{"CAPGATE_REGIONS", "decode*\nengine@decode-r*"}}});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto& trace = run.only();
  std::vector<std::string> seen;
  for (const auto& region : records<trace::RegionRecord>(trace, RecordType::region))
    seen.push_back(std::to_string(region.op) + trace.text(region.domain) + "@" + trace.text(region.name));
  const std::vector<std::string> expected = {"1@decode-step",
                                             "2@decode-step",
                                             "1@decode-step",
                                             "2@decode-step",
                                             "1@decode-w\u00efde",
                                             "2@decode-w\u00efde",
                                             "1engine@decode-registered",
                                             "2engine@decode-registered",
                                             "3@decode-started",
                                             "4@decode-started"};
  EXPECT_EQ(seen, expected);
  const auto marks = records<trace::MarkRecord>(trace, RecordType::mark);
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_EQ(trace.text(marks[0].a), "bs=8");
  EXPECT_EQ(marks[0].op, uint16_t(trace::MarkOp::bucket_push));
  EXPECT_EQ(marks[1].op, uint16_t(trace::MarkOp::bucket_pop));
  EXPECT_EQ(counter(trace, "nvtx-range:not-asked-for"), 2u);
  EXPECT_EQ(trace.count_of_facts("nvtx"), 2u);
  // Launches are seen in captures and in the first passes of a step; a process-wide range reaches other
  // threads.
  EXPECT_EQ(calls(trace, "cudaLaunchKernel").size(), 4u);
  EXPECT_EQ(calls(trace, "cudaStreamSynchronize").size(), 3u);
}

TEST(Preload, MarksMadeBeforeCudaAreNotLost) {
  for (const bool preload : {true, false}) {
    const Audited run = run_audited("marks", {.preload = preload});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto& trace = run.only();
    std::vector<std::string> seen;
    for (const auto& mark : records<trace::MarkRecord>(trace, RecordType::mark))
      seen.push_back(std::to_string(mark.op) + trace.text(mark.a) + ":" + trace.text(mark.b));
    if (preload) {
      const std::vector<std::string> expected = {"3host-sync:start-up", "1bs=4:", "5moe:",   "6moe:",
                                                 "4host-sync:start-up", "2bs=4:", "1bs=16:", "2bs=16:"};
      EXPECT_EQ(seen, expected);
      EXPECT_EQ(run.fact("subject.config_digest"), "abc");
      EXPECT_EQ(records<trace::RegionRecord>(trace, RecordType::region).size(), 2u);
    } else {
      // By injection alone the library is not there before CUDA; what comes after is seen.
      EXPECT_NE(std::find(seen.begin(), seen.end(), "5moe:"), seen.end());
    }
  }
}

TEST(Preload, StepsBetweenReplaysAreRecordedAndBusyWaitsAreCut) {
  const Audited run = run_audited("steps");
  EXPECT_EQ(calls(run.only(), "cudaStreamSynchronize").size(), 4u);
  const size_t polls = calls(run.only(), "cudaStreamQuery").size();
  EXPECT_EQ(polls, 4u * 64u);
  EXPECT_EQ(counter(run.only(), "call:cudaStreamQuery"), 2000u - polls);
}

TEST(Preload, DetachesOnRequest) {
  const Audited run = run_audited("clean", {.env = {{"CAPGATE_UNTIL", "replays=2"}}});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.only().file.header.state, uint32_t(trace::FileState::detached));
  EXPECT_EQ(calls(run.only(), "cudaGraphLaunch").size(), 2u);
  const auto end = records<trace::EndRecord>(run.only(), RecordType::end);
  ASSERT_EQ(end.size(), 1u);
  EXPECT_EQ(end[0].how, 2u);
}

}  // namespace

}  // namespace capgate::test
