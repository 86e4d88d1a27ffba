#include "static_checks/driver/print.h"

#include <gtest/gtest.h>

namespace capgate::lint {
namespace {

reports::Report sample() {
  reports::Report report;
  report.verdict = reports::Verdict::fail;
  reports::Violation violation;
  violation.rule = "host-branch";
  violation.message = "host control flow reads a device value";
  violation.hint = "keep the decision on the device";
  violation.location = {"src/decode.cu", 12, 9, "step"};
  violation.source = {{11, "  cudaMemcpy(&n, d, 4, cudaMemcpyDeviceToHost);"}, {12, "\tif (n > 0)"}};
  violation.flow = {{"src/decode.cu", 11, "'n' receives a device value"},
                    {"src/decode.cu", 12, "the branch"}};
  report.violations.push_back(violation);
  violation.suppressed = reports::Suppressed{"known", "x:1"};
  report.violations.push_back(violation);
  report.summary.errors = 1;
  report.summary.suppressed = 1;
  report.coverage.files_parsed = 3;
  report.coverage.files_failed = 1;
  report.reasons.push_back({"b.cu was not parsed: it hangs", "give it more time"});
  return report;
}

TEST(Print, GccFormThatEditorsJumpBy) {
  EXPECT_EQ(
      printed(sample(), false),
      "src/decode.cu:12:9: error: host control flow reads a device value [host-branch]\n"
      "   12 |     if (n > 0)\n"
      "      |            ^\n"
      "src/decode.cu:11: note: 'n' receives a device value\n"
      "src/decode.cu:12: note: the branch\n"
      "src/decode.cu:12:9: note: fix: keep the decision on the device\n"
      "not proved, because b.cu was not parsed: it hangs\n"
      "  to do: give it more time\n"
      "fail: A REPLAY WOULD BE WRONG: a graph of this step would hold the side of the branch that the host "
      "took "
      "during the "
      "capture, at src/decode.cu:12 - 1 error, 0 warnings, 0 notes (1 suppressed); 3 files parsed, 1 not, 0 "
      "captured regions\n");
}

TEST(Print, ColourOnlyWhenAsked) {
  EXPECT_EQ(printed(sample(), false).find('\x1b'), std::string::npos);
  EXPECT_NE(printed(sample(), true).find("\x1b[1;31m"), std::string::npos);
}

TEST(Print, NothingSteersTheTerminal) {
  reports::Report report = sample();
  // What turns the text around, on purpose.
  const std::string turn = "\xe2\x80\xae";  // NOLINT(misc-misleading-bidirectional)
  const std::string hostile = "\x1b[2J\xc2\x9b" + turn;
  reports::Violation& violation = report.violations.front();
  violation.location.file += hostile;
  violation.message += hostile;
  violation.hint += hostile;
  violation.flow.front().file += hostile;
  violation.flow.front().message += hostile;
  violation.source.back().text = "  /* \xc3\xa4\t" + hostile + " */ if (n > 0)";
  violation.location.column = 18;
  report.reasons.push_back({"a" + hostile, "b" + hostile});
  const std::string text = printed(report, false);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
  EXPECT_EQ(text.find(turn), std::string::npos);
  // One column a character, four a tab.
  EXPECT_NE(text.find("   12 |   /* \xc3\xa4    ?[2J?? */ if (n > 0)\n"
                      "      |                 ^\n"),
            std::string::npos)
      << text;
}

TEST(Print, ManyReasonsAreCounted) {
  reports::Report report;
  for (int i = 0; i < 25; ++i) report.reasons.push_back({"r" + std::to_string(i), "x"});
  EXPECT_NE(printed(report, false).find("5 more reasons"), std::string::npos);
}

}  // namespace
}  // namespace capgate::lint
