// What `capgate show` lists, and how.
#include <gtest/gtest.h>

#include <algorithm>

#include "reports/terminal/terminal.h"
#include "reports/verdict/finish.h"
#include "tests/unit/reports/sample.h"

namespace capgate::reports {
namespace {

using testing::clean_run;
using testing::violation;

Report listed_report(size_t count) {
  Report report = clean_run();
  for (size_t i = 0; i < count; ++i) {
    Violation fault = violation(i % 2 ? "host-poll" : "host-sync", "model/f" + std::to_string(i) + ".cpp", 7,
                                "f" + std::to_string(i), "c");
    fault.message = "The host waits.";
    if (i == 1) fault.severity = Severity::warning;
    report.violations.push_back(std::move(fault));
  }
  finish(report);
  return report;
}

size_t times(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

std::string listed(const std::string& text) {
  return text.substr(text.find("---- every finding ----"));
}

TEST(Listing, MoreThanTenFindingsAreALineEach) {
  const std::string eleven = listed(render_terminal(listed_report(11), {}));
  EXPECT_EQ(times(eleven, "The host waits."), 0u) << eleven;
  EXPECT_EQ(times(eleven, "\nerror host-"), 10u) << eleven;
  EXPECT_EQ(times(eleven, "\nwarning host-poll model/f1.cpp:7 f1()"), 1u) << eleven;
  EXPECT_EQ(times(eleven, "`capgate show --all REPORT`"), 1u) << eleven;
  const std::string ten = listed(render_terminal(listed_report(10), {}));
  EXPECT_EQ(times(ten, "The host waits."), 9u) << ten;  // the first is on the first screen
  EXPECT_EQ(times(ten, "--all"), 0u) << ten;
  TerminalOptions all;
  all.all = true;
  EXPECT_EQ(times(listed(render_terminal(listed_report(11), all)), "The host waits."), 10u);
}

TEST(Listing, ASelectionListsWhatFitsInFull) {
  TerminalOptions options;
  options.selection.rules = {"host-poll"};
  std::string text = render_terminal(listed_report(11), options);
  EXPECT_EQ(times(text, "5 of 11 findings selected\n"), 1u) << text;
  EXPECT_EQ(times(text, "\nerror host-sync model"), 0u) << text;
  EXPECT_EQ(times(text, "The host waits."), 5u) << text;
  options.selection.files = {"f1.cpp", "model/f3.cpp", "model/f5*"};
  text = render_terminal(listed_report(11), options);
  EXPECT_EQ(times(text, "3 of 11 findings selected\n"), 1u) << text;
  options.selection.least_severity = Severity::error;
  text = render_terminal(listed_report(11), options);
  EXPECT_EQ(times(text, "2 of 11 findings selected\n"), 1u) << text;
  EXPECT_EQ(times(text, " f1()"), 0u) << text;
  options.selection.files = {"elsewhere/*"};
  EXPECT_EQ(times(render_terminal(listed_report(11), options), "none of 11 findings selected\n"), 1u);
}

// A symptom is part of its cause, unless only the symptom was asked for.
TEST(Listing, ASymptomIsPrintedOnce) {
  Report report = clean_run();
  Violation wait = violation("host-sync", "a.cpp", 12, "f", "c"),
            branch = violation("host-branch", "b.cpp", 14, "f");
  wait.id = "#0";
  branch.symptom_of = "#0";
  report.violations = {wait, branch};
  finish(report);
  TerminalOptions options;
  options.selection.files = {"*.cpp"};
  EXPECT_EQ(times(render_terminal(report, options), "host-branch b.cpp:14"), 1u);
  options.selection.files = {"b.cpp"};
  const std::string alone = render_terminal(report, options);
  EXPECT_EQ(times(alone, "1 of 2 findings selected\n"), 1u) << alone;
  EXPECT_EQ(times(alone, "\nerror host-branch b.cpp:14"), 1u) << alone;
}

}  // namespace
}  // namespace capgate::reports
