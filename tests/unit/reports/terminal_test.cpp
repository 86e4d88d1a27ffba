#include "reports/terminal/terminal.h"

#include <gtest/gtest.h>

#include <sstream>

#include "golden.h"
#include "reports/merge/merge.h"
#include "reports/terminal/text.h"
#include "reports/verdict/finish.h"
#include "sample.h"

namespace capgate::reports {
namespace {

using testing::clean_run;
using testing::clean_sources;
using testing::expect_golden;
using testing::failed_run;
using testing::violation;

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out.push_back(line);
  return out;
}

Report inconclusive() {
  Report report = clean_run();
  report.captures.clear();
  report.coverage.captures_completed = report.coverage.replays = 0;
  report.coverage.cupti = "held-by:Nsight Systems";
  report.reasons = {
      {"CUPTI is held by Nsight Systems", "capgate audit -- build/decode, without nsys around it"},
      {"bucket \"bs=8\" was not captured", "capgate audit --expect-bucket bs=8 -- build/decode"}};
  finish(report);
  return report;
}

TEST(Terminal, ShowsTheGoldenViews) {
  expect_golden("failed_run.txt", render_terminal(failed_run(), {}));
  expect_golden("clean_run.txt", render_terminal(clean_run(), {}));
  expect_golden("inconclusive.txt", render_terminal(inconclusive(), {}));
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
  const auto failed = lines(render_headline(failed_run(), {}));
  EXPECT_EQ(failed[0].rfind("FAIL: CAPTURE DIES at model/moe.py:212 MoE.route() - 2 errors: ", 0), 0u);
  EXPECT_NE(failed[0].find("decode (build 3f2a91c04b77"), std::string::npos);
  EXPECT_NE(failed[1].find("host-sync model/moe.py:212 MoE.route()"), std::string::npos);
  EXPECT_NE(failed[1].find("leave it a tensor"), std::string::npos);
  EXPECT_NE(failed[2].find("not checked: captures of different layers"), std::string::npos);
  const auto open = lines(render_terminal(inconclusive(), {}));
  EXPECT_EQ(open[0].rfind("INCONCLUSIVE: CUPTI is held by Nsight Systems", 0), 0u);
  EXPECT_EQ(open[1], "  to do:   capgate audit -- build/decode, without nsys around it");
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
  for (const auto& line : lines(render_terminal(report, {})))
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

TEST(Terminal, ColoursOnlyWhenAsked) {
  EXPECT_EQ(render_terminal(failed_run(), {}).find('\x1b'), std::string::npos);
  TerminalOptions color;
  color.color = true;
  EXPECT_NE(render_terminal(failed_run(), color).find("\x1b[1;31mFAIL"), std::string::npos);
}

TEST(Terminal, ShowsNoControlCharacterOfAReport) {
  Report report = failed_run();
  const std::string evil = "\x1b[2J\r\n\x07 x\xC2\x9B\x9B\xE2\x80\xAE\xE2\x80\xA8\xF0\x9F";
  report.subject.program = evil;
  report.coverage.not_checked = {evil};
  report.environment.host = evil;
  for (auto& fault : report.violations) {
    fault.rule = fault.location.file = fault.location.function = fault.message = fault.hint = evil;
    fault.capture = fault.thread = fault.stream = evil;
    fault.details["region"] = fault.details["consequence"] = evil;
    for (auto& line : fault.source) line.text = evil;
    for (auto& stack : fault.stacks) {
      for (auto& frame : stack.frames) frame.function = frame.file = frame.module = evil;
    }
    fault.flow = {{evil, 1, evil}};
    if (fault.suppressed) fault.suppressed = Suppressed{evil, evil};
  }
  report.reasons = {{evil, evil}, {evil, evil}};
  report.metrics[evil] = 1;
  TerminalOptions all;
  all.all = true;
  for (const auto verdict : {Verdict::pass, Verdict::fail, Verdict::inconclusive}) {
    report.verdict = verdict;
    for (const auto& options : {TerminalOptions{}, all}) {
      const std::string text = render_terminal(report, options);
      for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << int(c);
      for (const char* steers : {"\xC2\x9B", "\x9B", "\xE2\x80\xAE", "\xE2\x80\xA8", "\xF0\x9F"})
        EXPECT_EQ(text.find(steers), std::string::npos) << text;
    }
  }
}

// Lists that a person would not read to the end are cut, and said to be; --all has them whole.
TEST(Terminal, CutsLongListsAndSaysSo) {
  Report report = inconclusive();
  report.reasons.clear();
  for (int i = 0; i < 50; ++i) {
    const std::string bucket = "bs=" + std::to_string(i);
    report.reasons.push_back({bucket + " was not captured", "capgate audit --expect-bucket " + bucket});
    report.coverage.regions.push_back({"step " + std::to_string(i), RegionSource::nvtx, 2});
    report.coverage.not_checked.push_back("thing " + std::to_string(i));
  }
  const std::string text = render_terminal(report, {});
  EXPECT_NE(text.find("not proved, because bs=9 was"), std::string::npos);
  EXPECT_EQ(text.find("bs=10 was"), std::string::npos) << text;
  EXPECT_NE(text.find("\n… and 40 more reasons; `capgate show --all` lists them\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("region \"step 2\" seen 2 times, 47 more regions, "), std::string::npos) << text;
  EXPECT_NE(text.find("not checked: thing 0; thing 1; thing 2; and 47 more\n"), std::string::npos) << text;
  TerminalOptions all;
  all.all = true;
  const std::string whole = render_terminal(report, all);
  for (const char* item : {"bs=49 was not captured", "region \"step 49\" seen", "; thing 49"})
    EXPECT_NE(whole.find(item), std::string::npos) << item;
  EXPECT_EQ(whole.find(" more"), std::string::npos) << whole;

  report.reasons.resize(11);
  report.coverage.regions.resize(4);
  const std::string one = render_terminal(report, {});
  EXPECT_NE(one.find("\n… and 1 more reason; "), std::string::npos) << one;
  EXPECT_NE(one.find(", 1 more region, "), std::string::npos) << one;
}

TEST(Terminal, CutsNamesThatAProgramMade) {
  Report report = failed_run();
  const auto longer = [](const std::string& part) {
    std::string text;
    for (int i = 0; i < 300; ++i) text += part;
    return text;
  };
  report.captures.clear();
  for (auto& fault : report.violations) {
    fault.location.file = longer("folder/") + "step.cu";
    fault.location.function = "ns::" + longer("é");
    fault.message = "message";
    fault.hint = "hint";
    fault.capture = longer("capture");
    fault.source = {{fault.location.line, longer("source ")}};
    fault.flow = {{fault.location.file, 3, "step"}};
    for (auto& stack : fault.stacks)
      for (auto& frame : stack.frames) {
        frame.function = longer("function");
        frame.module = longer("x") + "/" + longer("lib") + ".so";
        if (!frame.file.empty()) frame.file = fault.location.file;
      }
  }
  for (const auto& line : lines(render_terminal(report, {})))
    EXPECT_LE(terminal::columns(line), 3 * terminal::kNameColumns + 60) << line;
  const std::string text = render_terminal(report, {});
  EXPECT_NE(text.find("folder/step.cu:212 ns::éé"), std::string::npos) << text;
}

TEST(Terminal, SurvivesAnEmptyReportAndNarrowWidths) {
  for (const int width : {-5, 0, 1, 20, 1000}) {
    TerminalOptions options;
    options.width = width;
    EXPECT_FALSE(render_terminal(Report{}, options).empty());
    EXPECT_FALSE(render_terminal(failed_run(), options).empty());
  }
}

TEST(Text, WrapsAtTheWidth) {
  for (const auto& line : lines(terminal::wrap("one two three four five six seven eight nine ten", 2, 30)))
    EXPECT_LE(line.size(), 30u);
  EXPECT_EQ(terminal::wrap("a b", 4, 80, true), "a b\n");
  EXPECT_EQ(terminal::wrap("a\n\nb", 1, 80), " a\n\n b\n");
  EXPECT_EQ(terminal::wrap("ééé ééé", 0, 20), "ééé ééé\n");
}

TEST(Text, CutsAtCharacters) {
  EXPECT_EQ(terminal::head_of("", 3), "");
  EXPECT_EQ(terminal::head_of("abc", 3), "abc");
  EXPECT_EQ(terminal::head_of("abcd", 3), "ab…");
  EXPECT_EQ(terminal::head_of("éééé", 3), "éé…");
  EXPECT_EQ(terminal::head_of("日本語日", 3), "日本…");
  EXPECT_EQ(terminal::tail_of("", 3), "");
  EXPECT_EQ(terminal::tail_of("abc", 3), "abc");
  EXPECT_EQ(terminal::tail_of("abcd", 3), "…cd");
  EXPECT_EQ(terminal::tail_of("éééé", 3), "…éé");
  EXPECT_EQ(terminal::tail_of("日本語日", 3), "…語日");
}

TEST(Text, WritesNumbersForPeople) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(counted(1, "file"), "1 file");
  EXPECT_EQ(terminal::duration(12.4), "12 us");
  EXPECT_EQ(terminal::duration(3400), "3.4 ms");
  EXPECT_EQ(terminal::duration(2.5e6), "2.5 s");
  EXPECT_EQ(terminal::bytes(512), "512 B");
  EXPECT_EQ(terminal::bytes(3 << 20), "3.0 MiB");
}

}  // namespace
}  // namespace capgate::reports
