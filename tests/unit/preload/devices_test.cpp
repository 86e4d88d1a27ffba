// What the trace says of devices when a program has two: a call's own, and its stream's.
#include <gtest/gtest.h>

#include "tests/unit/preload/audited.h"

namespace capgate::test {
namespace {

using trace::CallRecord;
using trace::RecordType;

const CallRecord& launch_of(const std::vector<CallRecord>& launches, const RecordedTrace& trace,
                            const std::string& kernel) {
  for (const auto& launch : launches)
    if (trace.text(launch.label) == kernel) return launch;
  static const CallRecord none{};
  ADD_FAILURE() << "no launch of " << kernel;
  return none;
}

TEST(Devices, EachLaunchTellsItsOwnAndItsStreams) {
  const Audited run = run_audited("two_devices");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto& trace = run.only();
  const auto launches = calls(trace, "cudaLaunchKernel");
  ASSERT_EQ(launches.size(), 4u);

  const auto& first = launch_of(launches, trace, "on_first");
  EXPECT_EQ(first.device, 0);
  EXPECT_EQ(first.stream_device, 0);

  const auto& second = launch_of(launches, trace, "on_second");
  EXPECT_EQ(second.device, 1);
  EXPECT_EQ(second.stream_device, 1);
  EXPECT_EQ(second.capture_status, 0);

  const auto& legacy = launch_of(launches, trace, "on_default_of_second");
  EXPECT_EQ(legacy.device, 1);
  EXPECT_EQ(legacy.stream_device, 1);
  EXPECT_TRUE(legacy.flags & trace::kLegacyStream);

  const auto& under_second = launch_of(launches, trace, "under_second");
  EXPECT_EQ(under_second.result, 0);
  EXPECT_EQ(under_second.device, 1);
  EXPECT_EQ(under_second.stream_device, 0);
  EXPECT_EQ(under_second.capture_status, 1);

  const auto driver_launches = calls(trace, "cuLaunchKernel");
  const auto& refused = launch_of(driver_launches, trace, "refused");
  EXPECT_EQ(refused.result, 400);
  EXPECT_EQ(refused.device, 1);
  EXPECT_EQ(refused.stream_device, 0);
  EXPECT_EQ(refused.capture_status, 1);
  EXPECT_EQ(refused.flags & trace::kNested, 0u);
  EXPECT_NE(refused.object, 0u);
  EXPECT_NE(refused.stack, 0u);

  const auto begin = calls(trace, "cudaStreamBeginCapture");
  ASSERT_EQ(begin.size(), 1u);
  EXPECT_EQ(begin[0].stream_device, 0);
}

// A context's own streams and modules are told while it is being made, when another device's is current: they
// must not teach the library a wrong device for it.
TEST(Devices, AContextInTheMakingIsNotTakenForTheCurrentOne) {
  const Audited run = run_audited("two_devices");
  const auto streams = records<trace::ObjectRecord>(run.only(), RecordType::stream);
  ASSERT_EQ(streams.size(), 3u);
  EXPECT_EQ(streams[0].device, 0);
  EXPECT_EQ(streams[1].device, trace::kNoDevice);  // of the context in the making
  EXPECT_EQ(streams[2].device, 1);
  const auto modules = records<trace::ObjectRecord>(run.only(), RecordType::module_load);
  ASSERT_EQ(modules.size(), 1u);
  EXPECT_EQ(modules[0].device, trace::kNoDevice);
}

TEST(Devices, AContextsAddressMayComeAgain) {
  const Audited run = run_audited("context_comes_again");
  const auto made = calls(run.only(), "cudaStreamCreateWithFlags");
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].device, 1);
  EXPECT_EQ(made[1].device, 0);
}

}  // namespace
}  // namespace capgate::test
