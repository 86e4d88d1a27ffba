// Work that goes to other streams: forks that are not joined, and graphs that stay empty.
#include "detector/analysis/results.h"
#include "tests/unit/analysis/windows/one_capture.h"

namespace capgate::test {
namespace {

using reports::Verdict;
using Faults = std::vector<std::string>;

class Join : public OneCapture {};

TEST_F(Join, EmptyGraphWhoseWorkWentElsewhereIsOneFault) {
  p.at("step.cpp", 10, "capture");
  p.begin_capture();
  fault_line();
  p.launch(kSide);
  p.at("step.cpp", 51, "route");
  p.launch(kSide);
  end_alive(0);
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"error empty-graph step.cpp:50 route"}) << text(report);
  EXPECT_EQ(report.coverage.captures_empty, 1u);
}

TEST_F(Join, EmptyGraphOnTheLegacyStreamIsDefaultStream) {
  p.at("step.cpp", 10, "capture");
  p.begin_capture();
  fault_line();
  p.launch(0);
  end_alive(0);
  EXPECT_EQ(faults(trace.report()), Faults{"error default-stream step.cpp:50 route"});
}

TEST_F(Join, EmptyGraphWithoutWorkIsANote) {
  p.at("step.cpp", 10, "capture");
  p.begin_capture();
  p.at("step.cpp", 50, "route");
  p.end_capture(kStream, 0);
  p.end();
  const auto report = trace.report();
  EXPECT_EQ(faults(report), Faults{"note empty-graph step.cpp:50 route"}) << text(report);
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
}

TEST_F(Join, TheEmptyGraphOfAPoolThatTheLibraryMakesIsSilent) {
  const std::vector<std::pair<std::string, std::string>> ends = {{"torch/cuda/graphs.py", "capture_end"},
                                                                 {"torch/cuda/graphs.py", "__exit__"}};
  const auto faults_in = [&](const std::string& file, bool launched) {
    TraceBuilder run;
    ProcessBuilder& q = run.process();
    auto frames = ends;
    frames.emplace_back(file, "__init__");
    frames.emplace_back("serve.py", "step");
    q.in_frames(frames);
    q.begin_capture();
    q.end_capture(kStream, 0);
    q.instantiate();
    if (launched) q.replay();
    q.end();
    return faults(run.report());
  };
  const std::string pool = "torch/_inductor/cudagraph_trees.py";
  EXPECT_EQ(faults_in(pool, false), Faults{});
  EXPECT_EQ(faults_in(pool, true), Faults{"note empty-graph serve.py:1 step"});
  EXPECT_EQ(faults_in("engine/pool.py", false), Faults{"note empty-graph engine/pool.py:1 __init__"});
}

TEST_F(Join, UnjoinedStreamNamesTheFork) {
  begin();
  p.record(7, kStream);
  fault_line();
  p.wait(kSide, 7);
  p.at("step.cpp", 60, "side");
  p.launch(kSide);
  p.at("step.cpp", 90, "capture");
  p.end_capture(kStream, 0, 904);
  p.end();
  const auto report = expect("error unjoined-stream");
  EXPECT_NE(report.violations[0].message.find("never joined"), std::string::npos);
  EXPECT_EQ(report.violations[0].details.at("consequence"), "killed capture 1 of s1");
}

TEST_F(Join, WorkAfterTheJoinIsUnjoined) {
  begin();
  p.record(7, kStream);
  fault_line();
  p.wait(kSide, 7);
  p.record(8, kSide);
  p.wait(kStream, 8);
  p.launch(kSide);
  p.at("step.cpp", 90, "capture");
  p.end_capture(kStream, 0, 904);
  p.end();
  expect("error unjoined-stream");
}

TEST_F(Join, OnlyTheStreamThatIsNotJoinedIsNamed) {
  constexpr uint64_t kThird = 0x3000;
  begin();
  p.record(7, kStream);
  p.at("step.cpp", 40, "joined");
  p.wait(kThird, 7);
  p.launch(kThird);
  p.record(8, kThird);
  p.wait(kStream, 8);
  fault_line();
  p.wait(kSide, 7);
  p.launch(kSide);
  p.at("step.cpp", 90, "capture");
  p.end_capture(kStream, 0, 904);
  p.end();
  expect("error unjoined-stream");
}

TEST_F(Join, ForeignEventShowsWhereItWasRecorded) {
  p.at("warm.cpp", 5, "prefetch");
  p.record(7, kSide);
  begin();
  fault_line();
  p.wait(kStream, 7, 905);
  end_dead();
  const auto report = expect("error foreign-event");
  EXPECT_EQ(report.violations[0].details.at("recorded at"), "warm.cpp:5");
}

}  // namespace
}  // namespace capgate::test
