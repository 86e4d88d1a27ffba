// The first screen of every recorded report: short enough, and with all that decides what to do next.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "reports/baseline/compare.h"
#include "reports/files/report_file.h"
#include "reports/terminal/terminal.h"
#include "reports/terminal/text.h"
#include "tests/unit/reports/golden.h"
#include "tests/unit/reports/sample.h"

namespace capgate::reports {
namespace {

using testing::lines_of;

constexpr size_t kMostRows = 25;

// As a terminal of this width shows it.
size_t rows(const std::string& text, int width) {
  size_t count = 0;
  for (const auto& line : lines_of(text))
    count += std::max<size_t>(
        1, (terminal::columns(line) + static_cast<size_t>(width) - 1) / static_cast<size_t>(width));
  return count;
}

bool has_line(const std::string& text, const char* pattern) {
  const std::regex expected(pattern);
  const auto all = lines_of(text);
  return std::any_of(all.begin(), all.end(),
                     [&](const std::string& line) { return std::regex_search(line, expected); });
}

std::vector<std::filesystem::path> recorded() {
  std::vector<std::filesystem::path> found;
  for (const auto& file : std::filesystem::recursive_directory_iterator(CAPGATE_TRACES_DIR))
    if (file.path().extension() == ".json") found.push_back(file.path());
  std::sort(found.begin(), found.end());
  return found;
}

TEST(FirstScreen, OfEveryRecordingFitsAndHoldsWhatDecides) {
  size_t failed = 0;
  for (const auto& path : recorded()) {
    const auto report = read_report_alone(path.string());
    ASSERT_TRUE(report.ok()) << report.error();
    TerminalOptions options;
    options.report_name = path.filename().string();
    const std::string text = render_first_screen(*report, options);
    SCOPED_TRACE(path.string() + "\n" + text);
    EXPECT_LE(rows(text, options.width), kMostRows);
    EXPECT_EQ(text, render_terminal(*report, options).substr(0, text.size()));
    EXPECT_EQ(text.find("nothing to fix"), std::string::npos);
    EXPECT_TRUE(has_line(text, "^  checked: "));
    const bool proves = report->verdict != Verdict::inconclusive;
    EXPECT_TRUE(has_line(text, proves ? "^  not proved: " : "^  to do: "));
    EXPECT_EQ(has_line(text, "^PASS \\("), report->verdict == Verdict::pass);
    if (report->verdict != Verdict::fail) continue;
    ++failed;
    EXPECT_TRUE(has_line(
        text, "^FAIL: (CAPTURE DIES|GRAPH IS WRONG|A CAPTURE WOULD DIE|A REPLAY (WOULD|COULD) BE WRONG)"));
    const Violation& first = report->violations.front();
    EXPECT_TRUE(
        has_line(text, ("^error " + first.rule + " .*:" + std::to_string(first.location.line)).c_str()));
    EXPECT_TRUE(has_line(text, ("^  > *" + std::to_string(first.location.line) + " \\| ").c_str()));
    EXPECT_TRUE(has_line(text, "^  cost    "));
    EXPECT_TRUE(has_line(text, "^  fix     "));
    EXPECT_TRUE(has_line(text, "^            [^ ]"));  // its code
    EXPECT_TRUE(has_line(text, "^  new\\?    not compared; run: capgate show --baseline OLDER\\.json"));
    // With the verdict stands the line to change.
    EXPECT_NE(lines_of(text)[0].find(":" + std::to_string(first.location.line)), std::string::npos);
  }
  EXPECT_GE(failed, 60u);
}

TEST(FirstScreen, SaysWhetherTheFaultIsNew) {
  Report report = testing::failed_run();
  const Report same = report;
  Report other = testing::clean_run();
  TerminalOptions options;
  options.baseline_name = "last_week.json";
  compare_with_baseline(report, same);
  EXPECT_TRUE(has_line(render_first_screen(report, options), "^  new\\?    no: last_week.json has it, too$"));
  compare_with_baseline(report, other);
  EXPECT_TRUE(
      has_line(render_first_screen(report, options), "^  new\\?    yes: last_week.json does not have it$"));
}

TEST(FirstScreen, LeavesContextOutBeforeItGrowsTooLong) {
  Report report = testing::failed_run();
  TerminalOptions options;
  ASSERT_TRUE(has_line(render_first_screen(report, options), "^    211 \\| "));
  for (int i = 0; i < 110; ++i) report.violations[0].message += " and so on";
  const std::string text = render_first_screen(report, options);
  EXPECT_FALSE(has_line(text, "^    211 \\| ")) << text;
  EXPECT_TRUE(has_line(text, "^  > 212 \\| ")) << text;
}

TEST(FirstScreen, NamesTheOperatorAndTheFallback) {
  const auto report =
      read_report_alone(std::string(CAPGATE_TRACES_DIR) + "/python/deepseek_v4_default_experts.faulty.json");
  ASSERT_TRUE(report.ok()) << report.error();
  const std::string text = render_terminal(*report, {});
  EXPECT_TRUE(has_line(text, "^          at::native::_grouped_mm_fallback ")) << text;
  EXPECT_TRUE(has_line(text, "^          grouped_mm +torch/nn/functional.py:")) << text;
}

}  // namespace
}  // namespace capgate::reports
