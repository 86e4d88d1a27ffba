#include "reports/terminal/terminal.h"

#include <gtest/gtest.h>

#include "reports/merge/merge.h"
#include "reports/terminal/text.h"
#include "reports/verdict/finish.h"
#include "tests/unit/reports/golden.h"
#include "tests/unit/reports/sample.h"

namespace capgate::reports {
namespace {

using testing::clean_run;
using testing::clean_sources;
using testing::expect_golden;
using testing::failed_run;
using testing::inconclusive_run;
using testing::lines_of;
using testing::violation;

TEST(Terminal, ShowsTheGoldenViews) {
  expect_golden("failed_run.txt", render_terminal(failed_run(), {}));
  expect_golden("clean_run.txt", render_terminal(clean_run(), {}));
  expect_golden("inconclusive.txt", render_terminal(inconclusive_run(), {}));
  TerminalOptions all;
  all.all = true;
  all.color = true;
  all.width = 72;
  expect_golden("failed_run_all_color_72.txt", render_terminal(failed_run(), all));

  Violation branch = violation("host-branch", "engine/route.cpp", 57, "engine::route", "", Evidence::sources);
  branch.phase = Phase::source;
  branch.message = "`if (overflow)` depends on d_overflow, which a kernel wrote";
  branch.flow = {{"engine/route.cpp", 51, "count<<<…>>> writes d_overflow"},
                 {"engine/route.cpp", 55, "cudaMemcpyAsync copies it to overflow"},
                 {"engine/route.cpp", 57, "the branch reads overflow"}};
  Report sources = clean_sources();
  sources.violations = {branch};
  finish(sources);
  expect_golden("failed_sources.txt", render_terminal(sources, {}));
  const auto merged = merge({{sources, "s", "2"}, {clean_run(), "r", "1"}}, "0.1.0");
  ASSERT_TRUE(merged.ok());
  expect_golden("merged_failed.txt", render_terminal(*merged, {}));
}

TEST(Terminal, SaysVerdictThenWorstThenProof) {
  const auto failed = lines_of(render_headline(failed_run(), {}));
  EXPECT_EQ(failed[0].rfind("FAIL: CAPTURE DIES at model/moe.py:212 MoE.route() - 2 errors: ", 0), 0u);
  EXPECT_NE(failed[0].find("decode (build 3f2a91c04b77"), std::string::npos);
  EXPECT_NE(failed[1].find("host-sync model/moe.py:212 MoE.route()"), std::string::npos);
  EXPECT_NE(failed[1].find("leave it a tensor"), std::string::npos);
  EXPECT_NE(failed[2].find("not checked: captures of different layers"), std::string::npos);
  const auto open = lines_of(render_terminal(inconclusive_run(), {}));
  EXPECT_EQ(open[0].rfind("INCONCLUSIVE: CUPTI is held by Nsight Systems", 0), 0u);
  EXPECT_EQ(open[1], "  to do:   capgate audit -- build/decode, without nsys around it");
}

TEST(Terminal, NamesTheCommitAndTheVersionsOfAProgramWithoutTorch) {
  Report report = clean_run();
  report.subject.more["commit"] = std::string(40, 'a');
  const auto first = [&] {
    const std::string text = render_headline(report, {});
    return text.substr(0, text.find('\n'));
  };
  EXPECT_NE(first().find("decode (build 3f2a91c04b77, commit aaaaaaaaaaaa, mode full, 2 buckets, sm_90)"),
            std::string::npos)
      << first();
  report.environment.torch.reset();
  EXPECT_NE(first().find("decode (build 3f2a91c04b77, commit aaaaaaaaaaaa, CUDA 13.0, driver 580.65.06, mode "
                         "full, 2 buckets, sm_90)"),
            std::string::npos)
      << first();
  report.subject.more.clear();
  report.environment.cuda_runtime.clear();
  EXPECT_NE(first().find("(build 3f2a91c04b77, driver 580.65.06, mode full"), std::string::npos) << first();
}

TEST(Terminal, CountsAndNamesHoldForAllCapturesOfAFault) {
  Report report = clean_run();
  ASSERT_FALSE(report.captures.empty());
  Violation copy = violation("pageable-copy", "main.cu", 173, "run", "cudaMemcpyAsync", Evidence::runtime);
  copy.phase = Phase::capture;
  copy.severity = Severity::error;
  copy.count = 6;
  copy.capture = report.captures.front().id;
  copy.stream = "s1 and 5 more";
  copy.details = {{"captures", "6"}, {"launches", "18"}};
  const auto shown = [&](const Violation& one) {
    Report with = report;
    with.violations = {one};
    finish(with);
    return render_terminal(with, {});
  };
  EXPECT_NE(shown(copy).find("- 6 times in 6 captures, such as capture "), std::string::npos) << shown(copy);
  EXPECT_NE(shown(copy).find("no time: each launch uses that address\n"), std::string::npos) << shown(copy);
  EXPECT_NE(shown(copy).find("6 times, stream s1 and 5 more"), std::string::npos) << shown(copy);
  copy.details["launches"] = "0";
  EXPECT_NE(shown(copy).find("none yet: the graphs were never launched"), std::string::npos);
  copy.details = {{"times captured", "1"}};
  EXPECT_EQ(shown(copy).find("6 times in capture"), std::string::npos) << shown(copy);
}

// Only launches after the memory went are wrong; what was alive at each launch is wrong in none.
TEST(Terminal, CostsAreThoseOfTheLaunchesThatWereWrong) {
  const auto shown = [](const char* rule, Severity severity, Phase phase,
                        std::map<std::string, std::string> details, bool captured) {
    Report report = clean_run();
    Violation fault = violation(rule, "main.cu", 173, "run", "cudaFree");
    fault.severity = severity;
    fault.phase = phase;
    fault.details = std::move(details);
    if (captured) fault.capture = report.captures.front().id;
    report.violations = {fault};
    finish(report);
    return render_first_screen(report, {});
  };
  const auto expect = [](const std::string& screen, const std::string& part) {
    EXPECT_NE(screen.find(part), std::string::npos) << screen;
  };
  expect(shown("freed-memory", Severity::error, Phase::replay, {{"launches", "1"}, {"now", "nothing"}}, true),
         "cost    no time: 1 of the 80 launches of the graph ran with that node after it\n");
  expect(
      shown("freed-memory", Severity::error, Phase::replay, {{"launches", "3"}, {"now", "nothing"}}, false),
      "cost    no time: 3 launches ran with that node after it\n");
  expect(shown("recapture", Severity::warning, Phase::replay, {}, false),
         "cost    making another graph once; the time of that was not measured\n");
  expect(shown("freed-memory", Severity::warning, Phase::replay, {{"now", "nothing"}}, true),
         "cost    none yet: the graph was not launched since\n");
  expect(shown("pageable-copy", Severity::warning, Phase::capture, {{"at each launch", "alive"}}, true),
         "cost    not measured: launches are not timed; the memory was there at each launch\n");
  const std::string built =
      shown("host-pointer", Severity::error, Phase::replay, {{"graph", "built node by node"}}, false);
  expect(built, " - in a graph that is built node by node\n");
  expect(built, "cost    no time: each launch uses that address\n");
  expect(shown("host-node", Severity::warning, Phase::replay, {{"graph", "built node by node"}}, false),
         "cost    not measured: launches of the graph are not timed\n");
  const std::string update = shown("graph-refused", Severity::error, Phase::replay,
                                   {{"launched again", "yes"}, {"refused", "update"}}, false);
  expect(update, " - at an update\n");
  expect(update, "cost    no time: later launches ran the graph without the update\n");
  expect(shown("graph-refused", Severity::error, Phase::replay, {{"refused", "instantiation"}}, false),
         "cost    the whole graph: CUDA does not run it\n");
  const std::string leak =
      shown("graph-alloc-leak", Severity::error, Phase::replay, {{"refused launches", "2"}}, false);
  expect(leak, " - 2 launches refused\n");
  expect(leak, "cost    2 launches, which CUDA refused\n");
}

TEST(Terminal, NamesEachFaultOnceWithItsConsequence) {
  const std::string text = render_terminal(failed_run(), {});
  EXPECT_NE(text.find("\nerror host-sync model/moe.py:212 MoE.route() - killed capture \"decode bs=8\"\n"),
            std::string::npos);
  EXPECT_NE(
      text.find("\nerror pageable-copy model/decode.cpp:74 engine::upload() - 2 times in capture \"bs=1\"\n"),
      std::string::npos);
  EXPECT_NE(text.find("\nallowed warning host-sync model/decode.cpp:131"), std::string::npos);
}

// A report with one cause and two symptoms, seen in four steps.
Report read_back() {
  Report report = clean_run();
  Violation wait = violation("host-sync", "model/moe.py", 212, "MoE.route", "cudaStreamSynchronize");
  wait.id = "wait";
  wait.phase = Phase::step;
  wait.count = 12;
  wait.blocked_us = 640;
  wait.details["region"] = "step";
  wait.per_step = PerStep{4, 2, 51.4, {{1, "warm-up"}, {2, "not finished"}}};
  Violation copy = violation("pageable-copy", "model/moe.py", 210, "MoE.route", "cudaMemcpyAsync");
  copy.phase = Phase::step;
  copy.symptom_of = "wait";
  copy.message = "copies 4 bytes into stack memory";
  Violation branch = violation("host-branch", "model/moe.py", 214, "MoE.route", "", Evidence::sources);
  branch.symptom_of = "wait";
  report.violations = {branch, wait, copy};
  finish(report);
  return report;
}

TEST(Terminal, PrintsSymptomsUnderTheirCause) {
  const std::string text = render_terminal(read_back(), {});
  const size_t cause = text.rfind("\nerror host-sync model/moe.py:212"),
               symptoms = text.find(
                   "\n  2 symptoms of it:\n    error pageable-copy model/moe.py:210 MoE.route() - ");
  ASSERT_NE(symptoms, std::string::npos) << text;
  EXPECT_LT(cause, symptoms);
  EXPECT_NE(
      text.find("\n    error pageable-copy model/moe.py:210 MoE.route() - between replays\n      copies 4 "
                "bytes into stack memory\n"),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("\nerror host-branch"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  more    2 symptoms of this cause, below\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n1 cause: 1 error, 0 warnings, 0 notes; 2 symptoms; "), std::string::npos) << text;
  TerminalOptions all;
  all.all = true;
  EXPECT_NE(render_terminal(read_back(), all).find("\nerror host-branch model/moe.py:214"),
            std::string::npos);
}

TEST(Terminal, TellsTheCostPerStepAndWhichStepsWereLeftOut) {
  const std::string text = render_terminal(read_back(), {});
  EXPECT_NE(
      text.find("\n  cost    2 per step (4 steps; left out: 1 warm-up, 2 not finished), host blocked 51 us "
                "per step\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find(" MoE.route() - 2 per step in region \"step\"\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("640 us"), std::string::npos) << text;
  EXPECT_EQ(text.find("12 times"), std::string::npos) << text;
}

// Also not in a report of an older capgate, which counted it.
TEST(Terminal, ARefusedCallHasNoTime) {
  Report report = failed_run();
  report.violations[0].blocked_us = 45;
  EXPECT_EQ(render_terminal(report, {}).find("45 us"), std::string::npos);
}

TEST(Terminal, PrintsNoFrameWithoutANameFirst) {
  Report report = failed_run();
  auto& frames = report.violations[0].stacks[0].frames;
  const Frame nameless{FrameLanguage::native, "", 0, "+0x4cb045", "libcuda.so.1", false};
  frames.insert(frames.begin(), nameless);
  EXPECT_NE(
      render_terminal(report, {}).find("\n  stack   cudaStreamSynchronize              libcudart.so.13\n"),
      std::string::npos);
  frames.erase(frames.begin() + 1);  // nothing else names the call
  const std::string text = render_terminal(report, {});
  EXPECT_NE(text.find("\n  stack   cudaStreamSynchronize              libcuda.so.1\n"), std::string::npos)
      << text;
  report.violations[0].stacks[0].role = StackRole::forked;
  for (const auto& line : lines_of(render_terminal(report, {})))
    EXPECT_EQ(line.find("+0x4cb045"), std::string::npos) << line;
}

TEST(Terminal, KeepsTheFramesThatDecide) {
  Report report = failed_run();
  auto& frames = report.violations[0].stacks[0].frames;
  frames.insert(frames.begin() + 2,
                Frame{FrameLanguage::native, "", 0, "at::native::_grouped_mm_fallback(at::Tensor const&)+0x1",
                      "libtorch_cuda.so", false});
  const std::string text = render_terminal(report, {});
  for (const char* kept :
       {"\n          at::native::_grouped_mm_fallback ", "\n          at::_ops::item::call "})
    EXPECT_NE(text.find(kept), std::string::npos) << text;
}

TEST(Terminal, PrintsAStackThatRepeatsOnce) {
  Report report = failed_run();
  Violation again = report.violations[0];
  again.rule = "host-poll";
  report.violations.push_back(again);
  Violation near = report.violations[0];
  near.rule = "sync-copy";
  near.location.line = 214;
  near.stacks[0].frames[5].line = 214;
  report.violations.push_back(near);
  finish(report);
  const std::string text = render_terminal(report, {});
  EXPECT_NE(text.find("\n  stack   as above, for moe.py:212\n"), std::string::npos) << text;
  EXPECT_NE(text.find("model/moe.py:214  <-\n          … 4 frames further out, as above for moe.py:212\n"),
            std::string::npos)
      << text;
  size_t printed = 0;
  for (size_t at = 0; (at = text.find("serve.py:31", at)) != std::string::npos; ++at) ++printed;
  EXPECT_EQ(printed, 1u) << text;
}

// A marked step that ran eagerly has no replays to be between; a fault in it is headed by the step's name.
TEST(Terminal, HeadsAFaultOfAMarkedStepByItsRegion) {
  Report report = clean_run();
  Violation wait = violation("host-sync", "model/moe.py", 212, "MoE.route", "cudaStreamSynchronize");
  wait.phase = Phase::step;
  wait.count = 3;
  wait.details["region"] = "step";
  report.violations = {wait};
  finish(report);
  const std::string marked = render_terminal(report, {});
  EXPECT_NE(marked.find("\nerror host-sync model/moe.py:212 MoE.route() - 3 times in region \"step\"\n"),
            std::string::npos)
      << marked;
  EXPECT_EQ(marked.find("between replays"), std::string::npos);

  report.violations[0].details.erase("region");
  EXPECT_NE(render_terminal(report, {}).find("MoE.route() - 3 times between replays\n"), std::string::npos);
}

}  // namespace
}  // namespace capgate::reports
