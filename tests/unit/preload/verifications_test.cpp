// What the trace holds of a verification: its own account, and every call that its thread makes meanwhile.
#include <gtest/gtest.h>

#include "tests/unit/preload/audited.h"

namespace capgate::test {
namespace {

using trace::VerifyRecord;

std::vector<std::string> kernels(const RecordedTrace& trace) {
  std::vector<std::string> out;
  for (const auto& call : calls(trace, "cudaLaunchKernel")) out.push_back(trace.text(call.label));
  return out;
}

TEST(Verifications, AreInTheTraceAsTheyWereTold) {
  const Audited run = run_audited("verifies_a_graph");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto& trace = run.only();
  std::vector<std::string> told;
  for (const auto& r : records<VerifyRecord>(trace, trace::RecordType::verify))
    told.push_back(std::to_string(r.op) + " " + trace.text(r.name) + ": " + trace.text(r.facts));
  EXPECT_EQ(told,
            (std::vector<std::string>{
                "1 decode: inputs=2 steps=3", "2 load: run=eager set=0 step=0 filling=0 refilled=0",
                "3 logits: address=0x10 bytes=64 by=copy state=0", "4 logits: set=1 step=2", "5 differs: "}));
  EXPECT_EQ(trace.file.header.version, 4u);
}

TEST(Verifications, TheirBeginHasItsPlace) {
  const Audited run = run_audited("verifies_a_graph");
  const auto all = records<VerifyRecord>(run.only(), trace::RecordType::verify);
  ASSERT_FALSE(all.empty());
  EXPECT_NE(all.front().stack, 0u);
  EXPECT_EQ(all.back().stack, 0u);
  const auto stack = run.only().process.stacks.find(all.front().stack);
  ASSERT_NE(stack, run.only().process.stacks.end());
  ASSERT_FALSE(stack->second.empty());
  EXPECT_EQ(run.only().place(stack->second.front()).rfind("capgate_fake_program+", 0), 0u)
      << run.only().place(stack->second.front());
}

TEST(Verifications, EveryCallOfTheirThreadIsRecorded) {
  const Audited run = run_audited("verifies_a_graph");
  EXPECT_EQ(kernels(run.only()), (std::vector<std::string>{"captured", "inside"}));
  // Before it the thread had launched no graph: such a copy is only counted. After it there is a step.
  EXPECT_EQ(calls(run.only(), "cudaMemcpy").size(), 2u);
}

TEST(Verifications, LaunchesAreSeenHoweverLongAgoTheLastCaptureIs) {
  const Audited run = run_audited("verifies_later");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::vector<std::string> expected = {"captured"};
  for (int i = 0; i < 3; ++i)
    for (const char* kernel : {"loads", "inside", "reads"}) expected.emplace_back(kernel);
  EXPECT_EQ(kernels(run.only()), expected);
}

// One filling of the first round is enough to hold a graph's nodes against.
TEST(Verifications, TheirEagerStepsHaveTheParametersOfTheirLaunches) {
  const Audited run = run_audited("verifies_later");
  const auto& trace = run.only();
  ASSERT_EQ(trace.process.eager_launches.size(), 1u);
  const auto launches = calls(trace, "cudaLaunchKernel");
  ASSERT_EQ(launches.size(), 10u);
  EXPECT_EQ(trace.process.eager_launches[0].r.graph, launches[2].h.seq);
  for (size_t i = 1; i < launches.size(); ++i) EXPECT_EQ(launches[i].stack != 0, i == 2) << i;
}

TEST(Verifications, ArePythonsToo) {
  const std::string script =
      "import ctypes, sys\n"
      "sys.path.insert(0, '" MARKS_FOLDER
      "')\n"
      "rt = ctypes.CDLL('" FAKE_PYTHON_RUNTIME
      "')\n"
      "rt.fake_python_synchronize()\n"
      "from capgate_evidence import Evidence\n"
      "def test_decode():\n"
      "    evidence = Evidence('decode', 3, 4)\n"
      "    evidence.load('replay', 2, 1, 0, 'refilled')\n"
      "    rt.fake_python_synchronize()\n"
      "    evidence.stopped('nothing', ValueError('no\\noutput'))\n"
      "test_decode()\n";
  for (const std::string& python : interpreters()) {
    SCOPED_TRACE(python);
    const Audited run = run_audited("", {.command = {python, "-B", "-c", script}});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto& trace = run.only();
    const auto all = records<VerifyRecord>(trace, trace::RecordType::verify);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(trace.text(all[0].facts), "inputs=3 steps=4");
    EXPECT_EQ(trace.text(all[1].facts), "run=replay set=2 step=1 filling=0 refilled=1");
    EXPECT_EQ(trace.text(all[2].facts), "why=no output");
    ASSERT_TRUE(trace.process.python_stacks.contains(all[0].python_stack));
    EXPECT_NE(trace.process.python_stacks.at(all[0].python_stack).find("in test_decode"), std::string::npos);
  }
}

}  // namespace
}  // namespace capgate::test
