// The trial over time: what is drawn, and how much of it.
#include "detector/analysis/bars.h"

#include <gtest/gtest.h>

#include "tests/unit/analysis/expect.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {
namespace {

using analysis::run_timeline;
using analysis::TimedBar;
using analysis::TimedThread;
using reports::BarKind;

TimedBar bar(BarKind kind, const std::string& name, uint64_t begin, uint64_t end) {
  TimedBar out;
  out.bar.kind = kind;
  out.bar.name = name;
  out.begin_ns = begin;
  out.end_ns = end;
  out.busy_ns = end - begin;
  return out;
}

TEST(RunTimeline, OfARun) {
  TraceBuilder trace;
  ProcessBuilder& p = trace.process();
  trace.regions = {"decode"};
  p.at("start.cpp", 3, "load");
  p.sync(kStream);  // start-up
  p.mark(trace::MarkOp::bucket_push, "bs=8");
  p.healthy_capture();
  p.mark(trace::MarkOp::bucket_pop);
  for (int i = 0; i < 3; ++i) {
    p.push("decode");
    p.at("step.cpp", 20, "step");
    p.replay();
    p.at("step.cpp", 21, "step");
    p.sync(kStream);
    p.pop();
  }
  p.at("end.cpp", 9, "leave");
  p.sync(kStream);
  p.end();
  const auto report = trace.report();
  ASSERT_TRUE(report.timeline);
  ASSERT_EQ(report.timeline->threads.size(), 1u);
  const auto& thread = report.timeline->threads[0];
  EXPECT_EQ(thread.process, "100");
  EXPECT_EQ(thread.thread, "main");
  std::map<BarKind, std::vector<reports::Bar>> bars;
  double before = 0;
  for (const auto& one : thread.bars) {
    bars[one.kind].push_back(one);
    EXPECT_GE(one.begin_us, before);
    EXPECT_GE(one.end_us, one.begin_us);
    before = one.begin_us;
  }
  EXPECT_EQ(thread.bars.front().begin_us, 0);
  ASSERT_EQ(bars[BarKind::capture].size(), 1u);
  EXPECT_EQ(bars[BarKind::capture][0].name, "bs=8");
  EXPECT_EQ(bars[BarKind::capture][0].capture, report.captures.at(0).id);
  EXPECT_EQ(bars[BarKind::region].size(), 3u);
  ASSERT_EQ(bars[BarKind::replay].size(), 3u);
  EXPECT_EQ(bars[BarKind::replay][0].name, "bs=8");
  // Neither the start-up's wait nor the one behind the last step.
  ASSERT_EQ(bars[BarKind::wait].size(), 3u);
  for (const auto& wait : bars[BarKind::wait]) {
    EXPECT_EQ(wait.name, "cudaStreamSynchronize");
    EXPECT_EQ(wait.file, "step.cpp");
    EXPECT_EQ(wait.line, 21);
    EXPECT_GT(wait.busy_us, 0);
  }
}

TEST(RunTimeline, WithoutStepsThereIsNone) {
  TraceBuilder trace;
  ProcessBuilder& p = trace.process();
  p.at("start.cpp", 3, "load");
  p.sync(kStream);
  p.end();
  EXPECT_FALSE(trace.report().timeline);
  EXPECT_FALSE(run_timeline({}));
}

// Nothing is put together while there is room: a reader counts steps.
TEST(RunTimeline, ClosestEqualBarsAreJoinedOnlyWhereThereAreTooMany) {
  TimedThread thread{"1", "main", {}};
  for (uint64_t i = 0; i < 100; ++i) {
    thread.bars.push_back(bar(BarKind::region, "decode", 1000 + i * 1000, 1900 + i * 1000));
    thread.bars.push_back(bar(BarKind::wait, "sync", 1500 + i * 1000, 1600 + i * 1000));
  }
  const auto whole = run_timeline({thread}, 200);
  EXPECT_EQ(whole->threads[0].bars.size(), 200u);
  const auto few = run_timeline({thread}, 199);
  ASSERT_LE(few->threads[0].bars.size(), 199u);
  EXPECT_EQ(few->left_out, 0u);
  uint64_t waits = 0;
  double busy = 0;
  for (const auto& one : few->threads[0].bars)
    if (one.kind == BarKind::wait) waits += one.count, busy += one.busy_us;
  EXPECT_EQ(waits, 100u);
  EXPECT_NEAR(busy, 10, 1e-9);
  EXPECT_EQ(few->threads[0].bars.front().begin_us, 0);
  EXPECT_NEAR(few->threads[0].bars.front().end_us, 99.9, 1e-9);
}

// Different bars cannot be joined: the shortest waits go, and the report says how many.
TEST(RunTimeline, TheShortestWaitsAreLeftOut) {
  TimedThread thread{"1", "main", {bar(BarKind::region, "decode", 0, 5)}};
  for (uint64_t i = 0; i < 50; ++i)
    thread.bars.push_back(bar(BarKind::wait, "wait " + std::to_string(i), 1000 * i, 1000 * i + 10 + i));
  const auto few = run_timeline({thread}, 11);
  ASSERT_EQ(few->threads[0].bars.size(), 11u);
  EXPECT_EQ(few->left_out, 40u);
  EXPECT_EQ(few->threads[0].bars.front().name, "decode");
  EXPECT_EQ(few->threads[0].bars.back().name, "wait 49");
}

TEST(RunTimeline, EachThreadHasItsOwnBars) {
  const auto both = run_timeline({{"1", "main", {bar(BarKind::region, "a", 100, 200)}},
                                  {"2", "main", {bar(BarKind::region, "a", 50, 70)}}});
  ASSERT_EQ(both->threads.size(), 2u);
  EXPECT_EQ(both->threads[0].bars[0].begin_us, 0.05);
  EXPECT_EQ(both->threads[1].bars[0].begin_us, 0);
}

}  // namespace
}  // namespace capgate::test
