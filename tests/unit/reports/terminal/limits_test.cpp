// A terminal of any width, and names of any length and with any bytes in them.
#include "reports/terminal/terminal.h"

#include <gtest/gtest.h>

#include "reports/merge/merge.h"
#include "reports/terminal/gate_lines.h"
#include "reports/terminal/text.h"
#include "reports/verdict/finish.h"
#include "tests/unit/reports/golden.h"
#include "tests/unit/reports/sample.h"

namespace capgate::reports {
namespace {

using testing::clean_run;
using testing::failed_run;
using testing::inconclusive_run;
using testing::lines_of;

TEST(Terminal, ColoursOnlyWhenAsked) {
  EXPECT_EQ(render_terminal(failed_run(), {}).find('\x1b'), std::string::npos);
  TerminalOptions color;
  color.color = true;
  EXPECT_NE(render_terminal(failed_run(), color).find("\x1b[1;31mFAIL"), std::string::npos);
}

// A log of GitHub's is read by its runner: "::" at the beginning of a line, or "##[" in it, is a command.
TEST(Terminal, PrintsNoCommandOfACiSystem) {
  EXPECT_EQ(terminal::without_commands("::error::x\n  ::add-mask::y\na ::b ##[group]\n"),
            ": :error::x\n  : :add-mask::y\na ::b # #[group]\n");
  Report report = failed_run();
  for (Violation& violation : report.violations) {
    violation.message = "::stop-commands::x ##[group]y " + std::string(120, 'w') + " ::set-output::z";
    violation.location.function = "::f";
    violation.hint = violation.message;
    for (Stack& stack : violation.stacks)
      for (Frame& frame : stack.frames) frame.function = "::error::" + frame.function;
  }
  GateOptions gate;
  const std::string all = render_terminal(report, {}) + decide(report, gate, {}, {}).text;
  EXPECT_EQ(all.find("##["), std::string::npos);
  for (size_t at = all.find("::"); at != std::string::npos; at = all.find("::", at + 1)) {
    const size_t begin = all.rfind('\n', at) + 1;
    EXPECT_NE(all.find_first_not_of(" \t", begin), at) << all.substr(begin, 60);
  }
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
  Report report = inconclusive_run();
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
  for (const auto& line : lines_of(render_terminal(report, {})))
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
  for (const auto& line : lines_of(terminal::wrap("one two three four five six seven eight nine ten", 2, 30)))
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
