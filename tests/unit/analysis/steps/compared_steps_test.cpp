// Graphs beside the eager steps that they replace: what is compared, what is found, and what must stay
// silent.
#include "tests/unit/analysis/verified_run.h"

namespace capgate::test {
namespace {

using Param = ProcessBuilder::Param;
using reports::Severity;
using trace::MarkOp;

constexpr const char* kProject = "_Z7projectPfi";  // float*, int
constexpr const char* kAttend = "_Z6attendPfii";   // float*, int, int
constexpr const char* kSquare = "_Z6squarePf";     // float*
constexpr const char* kAdvance = "_Z7advancePi";   // int*
constexpr uint64_t kX = 0x7f0000200000, kCache = 0x7f0000300000;

// What one step does: eagerly, or into a graph.
struct Kernel {
  std::string name;
  std::vector<Param> params;
  int line = 0;
  uint32_t grid = 1;
};
using Step = std::vector<Kernel>;

Step decode(uint32_t position, uint32_t width = 64) {
  return {{kProject, {{kX, 8}, {width, 4}}, 11},
          {kAttend, {{kCache, 8}, {width, 4}, {position, 4}}, 12},
          {kSquare, {{kX, 8}}, 13}};
}

class ComparedSteps : public Verifications {
 protected:
  void run(const Step& step) {
    for (const Kernel& kernel : step) {
      p.at("step.cpp", kernel.line, "decode");
      p.eager(kStream, kernel.name, kernel.params, kernel.grid);
    }
  }
  void marked(const Step& step) {
    p.push_sampled("decode");
    run(step);
    p.pop();
  }
  void marked_steps(int from, int to) {
    for (int position = from; position <= to; ++position) marked(decode(static_cast<uint32_t>(position)));
  }
  void capture(const Step& step, uint64_t graph = kGraph, uint64_t exec = kExec) {
    p.at("step.cpp", 20, "record");
    p.begin_capture();
    std::vector<uint64_t> makers;
    p.nowhere();
    for (const Kernel& kernel : step) makers.push_back(p.launch(kStream, kernel.name).h.seq);
    p.at("step.cpp", 22, "record");
    p.end_capture(kStream, step.size(), 0, graph);
    for (size_t i = 0; i < step.size(); ++i) {
      p.sized_node(graph, graph + 0x10 + i, makers[i], step[i].name, step[i].params, step[i].grid);
      if (i > 0) p.edge(graph, graph + 0xf + i, graph + 0x10 + i);
    }
    p.instantiate(exec, graph);
  }
  void replays(int times = 3, const Step& around = {}, uint64_t exec = kExec) {
    for (int i = 0; i < times; ++i) {
      p.at("step.cpp", 50, "serve");
      p.replay(exec).flags |= trace::kSampledStep;
      run(around);
    }
  }
  static const reports::ComparedReplay& compared(const reports::Report& report) {
    static const reports::ComparedReplay kNone;
    EXPECT_TRUE(report.coverage.replay && report.coverage.replay->compared.size() == 1);
    return report.coverage.replay->compared.empty() ? kNone : report.coverage.replay->compared[0];
  }
};

TEST_F(ComparedSteps, APositionThatTheGraphKeepsIsNamedWhereItIsPassed) {
  marked_steps(0, 2);
  capture(decode(3));
  replays();
  const auto report = this->report();
  EXPECT_EQ(faults(report), (Faults{"warning stale-argument step.cpp:12 decode"}));
  const auto found = only(report, "stale-argument");
  EXPECT_EQ(
      found.message,
      "argument 3 (int) of kernel attend is 3 in the graph of capture 1 of s1, and eager steps pass 0, 1 "
      "and 2");
  EXPECT_EQ(found.details.at("bits in the graph"), "0x00000003");
  EXPECT_EQ(found.details.at("bits in the last step"), "0x00000002");
  EXPECT_EQ(found.situation, "stale-argument.scalar");
  EXPECT_EQ(found.phase, reports::Phase::replay);
  EXPECT_EQ(found.capture, "100:1");
  EXPECT_EQ(roles(found), (std::vector<std::string>{"call", "captured"}));
  EXPECT_EQ(report.verdict, reports::Verdict::inconclusive);
  ASSERT_EQ(report.reasons.size(), 1u);
  EXPECT_EQ(report.reasons[0].text, "stale-argument: nothing shows that replays are right all the same");
  EXPECT_EQ(
      report.reasons[0].remedy,
      "call verify_replay in the audited program for the graph of capture 100:1 (docs/verify.md), then: "
      "capgate audit -- PROGRAM");
}

TEST_F(ComparedSteps, TwoStepsAndTheCaptureMakeThree) {
  marked_steps(0, 1);
  capture(decode(2));
  replays();
  EXPECT_EQ(faults(report()), (Faults{"warning stale-argument step.cpp:12 decode"}));
}

TEST_F(ComparedSteps, ALaunchSizeAndTheSizeOfACopyAreValuesToo) {
  for (uint32_t step = 1; step <= 3; ++step) {
    p.push_sampled("decode");
    run({{kAttend, {{kCache, 8}, {64, 4}, {0, 4}}, 12, step}});
    p.at("step.cpp", 14, "decode");
    p.copy_async(kStream, Memory::device, Memory::device, 100 * step);
    p.pop();
  }
  p.at("step.cpp", 20, "record");
  p.begin_capture();
  const uint64_t kernel = p.launch(kStream, kAttend).h.seq;
  p.at("step.cpp", 14, "decode");
  const uint64_t copy = p.copy_async(kStream, Memory::device, Memory::device, 400).h.seq;
  p.at("step.cpp", 22, "record");
  p.end_capture(kStream, 2);
  p.sized_node(kGraph, 0x10, kernel, kAttend, {{kCache, 8}, {64, 4}, {0, 4}}, 4);
  p.copy_node(kGraph, 0x11, copy, kX, Memory::device, kCache, Memory::device, HostPlace::unknown, 400);
  p.instantiate();
  replays();
  const auto report = this->report();
  EXPECT_EQ(faults(report), (Faults{"warning stale-argument step.cpp:12 decode",
                                    "warning stale-argument step.cpp:14 decode"}));
  std::vector<std::string> situations;
  for (const auto& violation : report.violations) situations.push_back(violation.situation);
  std::sort(situations.begin(), situations.end());
  EXPECT_EQ(situations, (std::vector<std::string>{"stale-argument.copy-size", "stale-argument.launch-size"}));
}

TEST_F(ComparedSteps, EqualStepsAreComparedAndSilent) {
  for (int i = 0; i < 3; ++i) marked(decode(7));
  capture(decode(7));
  replays();
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{});
  EXPECT_EQ(report.verdict, reports::Verdict::pass);
  EXPECT_EQ(compared(report).executable, "100:e1");
  EXPECT_EQ(compared(report).nodes, 3u);
  EXPECT_EQ(compared(report).matched, 3u);
  EXPECT_EQ(compared(report).steps, 3u);
  // Of each kernel seven sizes, and three scalars.
  EXPECT_EQ(compared(report).values, 24u);
  EXPECT_EQ(compared(report).unvaried, 24u);
}

// A first pass that differs from all others, a length that grows once, and a graph for the longest length.
TEST_F(ComparedSteps, AValueThatMakesNoSeriesIsNotStale) {
  for (const std::vector<uint32_t>& values :
       std::vector<std::vector<uint32_t>>{{9, 7, 7, 7}, {7, 7, 8, 8}, {7, 7, 7, 8}, {0, 1, 2, 512}}) {
    TraceBuilder of;
    ProcessBuilder& q = of.process();
    const auto work = [&](uint32_t position, bool captured) {
      q.at("step.cpp", 12, "decode");
      if (!captured) q.eager(kStream, kAttend, {{kCache, 8}, {64, 4}, {position, 4}});
    };
    for (int i = 0; i < 3; ++i) {
      q.push_sampled("decode");
      work(values[static_cast<size_t>(i)], false);
      q.pop();
    }
    q.begin_capture();
    const uint64_t maker = q.launch(kStream, kAttend).h.seq;
    q.end_capture();
    q.sized_node(kGraph, 0x10, maker, kAttend, {{kCache, 8}, {64, 4}, {values[3], 4}});
    q.instantiate();
    for (int i = 0; i < 3; ++i) q.replay();
    q.end();
    EXPECT_EQ(faults(of.report()), Faults{}) << values[3];
  }
}

TEST_F(ComparedSteps, PointersAndTheStateOfRandomGeneratorsAreNoScalars) {
  const std::string dropout = "_Z7dropoutPfN2at15PhiloxCudaStateE", untyped = "triton_fused_0";
  const auto step = [&](uint64_t i) {
    return Step{{dropout, {{kX + 512 * i, 8}, {i, 8}}, 11}, {untyped, {{kX + 4096 * i, 8}, {64, 4}}, 12}};
  };
  for (uint64_t i = 0; i < 3; ++i) marked(step(i));
  capture(step(3));
  replays();
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{});
  EXPECT_EQ(compared(report).steps, 3u);
}

TEST_F(ComparedSteps, ANumberInAFunctorOfPyTorchIsAValue) {
  const std::string add = "_Z3addiN2at6native13BUnaryFunctorIfffNS0_3MulEEE";  // int, BUnaryFunctor<float, …>
  const auto step = [&](uint64_t garbage, uint64_t bits) {
    return Step{{add, {{64, 4}, {bits << 32 | garbage, 8}}, 12}};
  };
  marked(step(0x11, 0x3f800000));
  marked(step(0x22, 0x40000000));
  marked(step(0x44, 0x40400000));
  capture(step(0x55, 0x40800000));
  replays();
  const auto found = only(report(), "stale-argument");
  EXPECT_NE(found.message.find("byte 4 of kernel add is 4 in the graph"), std::string::npos) << found.message;
  EXPECT_NE(found.message.find("eager steps pass 1, 2 and 3"), std::string::npos) << found.message;
}

TEST_F(ComparedSteps, StepsOfAnotherBatchSizeAreNotCompared) {
  const auto step = [](uint32_t batch, uint32_t position) {
    Step out = decode(position);
    out.push_back({kAdvance, {{kX, 8}}, 14});
    for (Kernel& kernel : out) kernel.grid = batch;
    return out;
  };
  marked(step(1, 0));
  marked(step(2, 1));
  marked(step(4, 2));
  capture(step(8, 3));
  replays();
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{});
  ASSERT_EQ(report.coverage.replay->not_compared.size(), 1u);
}

TEST_F(ComparedSteps, AnotherPathIsNotCompared) {
  marked_steps(0, 2);
  Step other = decode(3);
  other[1].name = "_Z11attend_longPfii";
  capture(other);
  replays();
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{});
  EXPECT_EQ(report.verdict, reports::Verdict::pass);
  ASSERT_EQ(report.coverage.replay->not_compared.size(), 1u);
  EXPECT_EQ(report.coverage.replay->not_compared[0].text, "the captured path differs (2 of 3 nodes)");
  EXPECT_TRUE(report.coverage.replay->compared.empty());
}

TEST_F(ComparedSteps, WorkInAnotherOrderIsNotCompared) {
  for (int i = 0; i < 3; ++i) marked(decode(0));
  Step other = decode(0);
  std::swap(other[0], other[1]);
  capture(other);
  replays();
  const auto report = this->report();
  EXPECT_TRUE(report.coverage.replay->compared.empty());
  EXPECT_EQ(report.coverage.replay->not_compared.size(), 1u);
}

TEST_F(ComparedSteps, StepsWhoseLaunchesAreNotRecordedSayNothing) {
  for (int i = 0; i < 3; ++i) {
    p.push("decode");
    p.at("step.cpp", 14, "decode");
    p.copy_async(kStream, Memory::device, Memory::pinned, 64);
    p.pop();
  }
  capture(decode(0));
  replays();
  const auto report = this->report();
  EXPECT_TRUE(report.coverage.replay->compared.empty());
  EXPECT_TRUE(report.coverage.replay->not_compared.empty());
}

TEST_F(ComparedSteps, OfSeveralGraphsWithoutANameNoneIsCompared) {
  marked_steps(0, 2);
  capture(decode(3));
  capture(decode(4), kGraph + 0x1000, kExec + 0x1000);
  replays();
  replays(3, {}, kExec + 0x1000);
  EXPECT_EQ(faults(report()), Faults{});
}

TEST_F(ComparedSteps, StepsAreComparedWithTheGraphsOfTheirBucket) {
  for (const uint32_t batch : {1u, 2u}) {
    p.mark(MarkOp::bucket_push, "bs=" + std::to_string(batch));
    for (int i = 0; i < 3; ++i) marked(decode(batch));
    capture(decode(batch), kGraph + 0x1000 * batch, kExec + batch);
    p.mark(MarkOp::bucket_pop);
  }
  for (const uint32_t batch : {1u, 2u}) replays(2, {}, kExec + batch);
  const auto report = this->report();
  EXPECT_EQ(faults(report), Faults{});
  ASSERT_EQ(report.coverage.replay->compared.size(), 2u);
  EXPECT_EQ(report.coverage.replay->compared[1].buckets, (std::vector<std::string>{"bs=2"}));
}

TEST_F(ComparedSteps, WorkThatTheGraphLacksIsNamedWhereTheStepDoesIt) {
  Step eager = decode(0), graph = decode(0);
  graph.erase(graph.begin() + 1);
  for (int i = 0; i < 3; ++i) marked(eager);
  capture(graph);
  replays();
  const auto report = this->report();
  EXPECT_EQ(faults(report), (Faults{"warning missing-work step.cpp:12 decode"}));
  EXPECT_EQ(only(report, "missing-work").message,
            "the graph of capture 1 of s1 lacks kernel attend, which 3 eager steps compared with it do");
  EXPECT_EQ(report.verdict, reports::Verdict::inconclusive);
}

TEST_F(ComparedSteps, WorkAroundTheLaunchesOrOfTheFirstPassIsNotMissing) {
  const Kernel plan{"_Z4planPi", {{kX, 8}}, 9}, sample{"_Z6samplePi", {{kX, 8}}, 30};
  for (int i = 0; i < 3; ++i) {
    Step step = decode(0);
    if (i == 0) step.insert(step.begin() + 1, plan);
    step.push_back(sample);
    marked(step);
  }
  capture(decode(0));
  replays(3, {sample});
  EXPECT_EQ(faults(report()), Faults{});
}

TEST_F(ComparedSteps, TheEndsOfAStepAreOnlyJudgedWhereTheStepsBetweenReplaysAreKnown) {
  for (const bool known : {false, true}) {
    TraceBuilder of;
    ProcessBuilder& q = of.process();
    const auto eager = [&](int line, const char* name) {
      q.at("step.cpp", line, "decode");
      q.eager(kStream, name, {{kX, 8}});
    };
    for (int i = 0; i < 3; ++i) {
      q.push_sampled("decode");
      eager(11, kSquare);
      eager(12, kAdvance);
      q.pop();
    }
    q.begin_capture();
    const uint64_t maker = q.launch(kStream, kSquare).h.seq;
    q.end_capture();
    q.sized_node(kGraph, 0x10, maker, kSquare, {{kX, 8}});
    q.instantiate();
    for (int i = 0; i < 3; ++i) q.replay().flags |= known ? uint32_t{trace::kSampledStep} : 0U;
    q.end();
    EXPECT_EQ(faults(of.report()), known ? Faults{"warning missing-work step.cpp:12 decode"} : Faults{});
  }
}

// The other kernels of a line stand for it: a library that takes another way there leaves nothing out.
TEST_F(ComparedSteps, ALineOfWhichTheGraphHasSomethingLacksNothing) {
  Step eager = decode(0);
  eager.insert(eager.begin() + 1, {"_Z8split_kvPf", {{kX, 8}}, 12});
  for (int i = 0; i < 3; ++i) marked(eager);
  capture(decode(0));
  replays();
  EXPECT_EQ(faults(report()), Faults{});
}

TEST_F(ComparedSteps, AVerificationThatVariedTheValueAnswersTheFinding) {
  for (const bool varies : {true, false}) {
    TraceBuilder of;
    ProcessBuilder& q = of.process();
    const auto attend = [&](uint32_t position) {
      q.at("step.cpp", 12, "decode");
      q.eager(kStream, kAttend, {{kCache, 8}, {64, 4}, {position, 4}});
    };
    for (uint32_t i = 0; i < 3; ++i) {
      q.push_sampled("decode");
      attend(i);
      q.pop();
    }
    q.at("step.cpp", 20, "record");
    q.begin_capture();
    const uint64_t maker = q.launch(kStream, kAttend).h.seq;
    q.end_capture();
    q.sized_node(kGraph, 0x10, maker, kAttend, {{kCache, 8}, {64, 4}, {3, 4}});
    q.instantiate();
    Story story;
    story.eager = [&](int, int step) { attend(varies ? static_cast<uint32_t>(step) : 3); };
    Verified(q).verify(story);
    q.end();
    const auto report = of.report();
    EXPECT_EQ(report.coverage.replay->verified[0].result, reports::ReplayResult::equal);
    EXPECT_EQ(faults(report), varies ? Faults{} : Faults{"warning stale-argument step.cpp:12 decode"});
  }
}

TEST_F(ComparedSteps, AVerificationThatDiffersMakesItAnError) {
  capture(decode(0));
  Story story;
  story.rounds = 1;
  story.eager = [&](int, int step) { run(decode(static_cast<uint32_t>(step))); };
  story.differs = {{"logits",
                    "set=0 step=1 filling=0 refilled=0 index=3 eager=2 replay=1 elements=4 of=64 largest=1 "
                    "allowed=0 kept=0 state=0"}};
  story.result = "differs";
  story.how = "refilled=0 varied=1";
  verify(story);
  const auto report = this->report();
  EXPECT_EQ(faults(report), (Faults{"error replay-mismatch test_decode.cpp:30 test_decode",
                                    "error stale-argument step.cpp:12 decode"}));
  EXPECT_EQ(only(report, "replay-mismatch").symptom_of, only(report, "stale-argument").id);
}

TEST_F(ComparedSteps, StepsAloneShowWhatWillGoStale) {
  marked_steps(0, 3);
  const auto report = this->report();
  const auto found = only(report, "stale-argument");
  EXPECT_EQ(found.location.line, 12);
  EXPECT_EQ(
      found.message,
      "argument 3 (int) of kernel attend changes from step to step (0, 1 and 2): a graph keeps the value "
      "of its capture");
  EXPECT_EQ(found.situation, "stale-argument.not-captured-yet");
  EXPECT_EQ(report.verdict, reports::Verdict::inconclusive);
}

constexpr const char* kStore = "_Z5storePi";       // int*
constexpr const char* kUpdate = "_Z6updatePfPKf";  // float*, const float*

TEST_F(ComparedSteps, APointerThatMovesThroughItsBufferIsStaleUnlessTheBufferIsWrittenBetweenLaunches) {
  for (const bool written : {false, true}) {
    TraceBuilder of;
    ProcessBuilder& q = of.process();
    q.malloc(4096).out = kCache;
    for (uint64_t i = 0; i < 3; ++i) {
      q.push_sampled("decode");
      q.at("step.cpp", 12, "decode");
      q.eager(kStream, kStore, {{kCache + 4 * i, 8}});
      q.pop();
    }
    q.begin_capture();
    const uint64_t maker = q.launch(kStream, kStore).h.seq;
    q.end_capture();
    q.sized_node(kGraph, 0x10, maker, kStore, {{kCache + 12, 8}});
    q.instantiate();
    for (int i = 0; i < 3; ++i) {
      q.at("step.cpp", 50, "serve");
      q.replay().flags |= trace::kSampledStep;
      if (written) q.copy_async(kStream, Memory::device, Memory::pinned, 64).dst = kCache;
    }
    q.end();
    const auto report = of.report();
    if (written) {
      EXPECT_EQ(faults(report), Faults{});
      continue;
    }
    EXPECT_EQ(faults(report), (Faults{"warning stale-argument step.cpp:12 decode"}));
    const auto found = only(report, "stale-argument");
    EXPECT_EQ(
        found.message,
        "argument 1 of kernel store points 12 bytes into its memory in the graph of capture 1 of s1, and "
        "0, 4 and 8 bytes in eager steps");
    EXPECT_EQ(found.situation, "stale-argument.offset");
  }
}

// Whether what a step makes is new each time, or is read by the next one, too.
TEST_F(ComparedSteps, StateThatEachStepMakesAnewIsStaleWhereTheNextOneReadsIt) {
  for (const bool functional : {true, false}) {
    TraceBuilder of;
    ProcessBuilder& q = of.process();
    const auto block = [](uint64_t i) { return 0x7f0000800000 + 0x1000 * i; };
    q.pool_block(trace::BlockOp::born, block(0), 512);
    const auto params = [&](uint64_t i) {
      return std::vector<Param>{{block(i), 8}, {functional ? block(i - 1) : block(0), 8}};
    };
    for (uint64_t i = 1; i <= 4; ++i) {
      if (i < 4)
        q.push_sampled("decode");
      else
        q.begin_capture();
      q.at("step.cpp", 12, "update");
      q.pool_block(trace::BlockOp::born, block(i), 512);
      if (i < 4) {
        q.eager(kStream, kUpdate, params(i));
        q.pop();
        continue;
      }
      const uint64_t maker = q.launch(kStream, kUpdate).h.seq;
      q.end_capture();
      q.sized_node(kGraph, 0x10, maker, kUpdate, params(i));
      q.instantiate();
    }
    for (int i = 0; i < 3; ++i) q.replay().flags |= trace::kSampledStep;
    q.end();
    const auto report = of.report();
    EXPECT_EQ(faults(report), functional ? Faults{"warning stale-argument step.cpp:12 update"} : Faults{});
    if (functional) {
      EXPECT_EQ(only(report, "stale-argument").situation, "stale-argument.made-anew");
    }
  }
}

class OneBucket : public ComparedSteps {
 protected:
  void captured_twice(const Step& first, const Step& second) {
    int visit = 0;
    for (const Step& step : {first, second}) {
      p.mark(MarkOp::bucket_push, "bs=8");
      capture(step, kGraph + 0x1000u * static_cast<uint64_t>(visit), kExec + static_cast<uint64_t>(visit));
      p.mark(MarkOp::bucket_pop);
      ++visit;
    }
  }
};

TEST_F(OneBucket, CapturesWithOtherNodesDiffer) {
  Step longer = decode(0);
  longer.insert(longer.begin() + 2, {"_Z8split_kvPf", {{kX, 8}}, 12});
  captured_twice(decode(0), longer);
  replays();
  replays(3, {}, kExec + 1);
  const auto report = this->report();
  EXPECT_EQ(faults(report), (Faults{"warning topology-change step.cpp:20 record"}));
  EXPECT_EQ(only(report, "topology-change").message,
            "two captures of bucket \"bs=8\" have other nodes: only the later has kernel split_kv (3 and 4 "
            "nodes)");
  ASSERT_EQ(report.reasons.size(), 1u);
  EXPECT_EQ(report.reasons[0].remedy,
            "call verify_replay in the audited program for bucket \"bs=8\" (docs/verify.md), then: capgate "
            "audit -- PROGRAM");
}

TEST_F(OneBucket, CapturesWithOtherValuesDiffer) {
  captured_twice(decode(5), decode(6));
  replays();
  replays(3, {}, kExec + 1);
  const auto found = only(report(), "stale-argument");
  EXPECT_EQ(found.message,
            "argument 3 (int) of kernel attend is 5 in one capture of bucket \"bs=8\" and 6 in another");
  EXPECT_EQ(found.situation, "stale-argument.captures");
}

TEST_F(OneBucket, EqualCapturesAndOneThatReplacesAnotherAreSilent) {
  captured_twice(decode(5), decode(5));
  replays();
  replays(3, {}, kExec + 1);
  EXPECT_EQ(faults(report()), Faults{});
}

TEST_F(OneBucket, AGraphThatIsMadeAnewMayDiffer) {
  p.mark(MarkOp::bucket_push, "bs=8");
  capture(decode(5));
  p.mark(MarkOp::bucket_pop);
  replays();
  p.call(Family::graph_exec_destroy, "cudaGraphExecDestroy").object = kExec;
  p.mark(MarkOp::bucket_push, "bs=8");
  capture(decode(6), kGraph + 0x1000, kExec + 1);
  p.mark(MarkOp::bucket_pop);
  replays(3, {}, kExec + 1);
  EXPECT_EQ(faults(report()), Faults{});
}

// A step that is captured in pieces: each piece is another graph.
TEST_F(OneBucket, PiecesOfOneStepAreNotComparedWithEachOther) {
  Step other = decode(9);
  other.pop_back();
  p.mark(MarkOp::bucket_push, "bs=8");
  capture(decode(5));
  capture(other, kGraph + 0x1000, kExec + 1);
  p.mark(MarkOp::bucket_pop);
  replays();
  replays(3, {}, kExec + 1);
  EXPECT_EQ(faults(report()), Faults{});
}

}  // namespace
}  // namespace capgate::test
