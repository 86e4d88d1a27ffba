// Findings with one cause are one entry: which are folded, and what the entry says of the others.
#include "static_checks/driver/folded.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace capgate::lint {
namespace {

using reports::Severity;
using reports::Violation;

Violation violation(const char* rule, int line, Severity severity = Severity::error) {
  Violation v;
  v.rule = rule;
  v.severity = severity;
  v.message = "m";
  v.location.file = "a.cu";
  v.location.line = line;
  return v;
}

Violation behind(const char* test, Violation v) {
  v.severity = Severity::warning;
  v.details["only_if"] = test;
  v.flow = {{"a.cu", 10, std::string("only if ") + test}};
  return v;
}

Violation made_by(const char* macro, Violation v) {
  v.details["macro"] = macro;
  return v;
}

std::vector<int> lines_of(const reports::Report& report) {
  std::vector<int> lines;
  for (const Violation& v : report.violations) lines.push_back(v.location.line);
  return lines;
}

TEST(Folded, WhatLiesBehindOneTestIsOneFinding) {
  reports::Report report;
  report.violations = {
      behind("debug", violation("host-sync", 11)), behind("debug", violation("sync-copy", 12)),
      behind("!debug", violation("host-sync", 20)), behind("debug", violation("host-sync", 13))};
  report.violations[3].suppressed = reports::Suppressed{"reason", "here"};
  fold_by_test(report);
  ASSERT_EQ(lines_of(report), (std::vector<int>{11, 20, 13}));
  EXPECT_EQ(report.violations[0].message, "m; 1 more behind the same test");
  EXPECT_EQ(report.violations[0].details.at("also"), "sync-copy a.cu:12");
  EXPECT_EQ(report.violations[1].message, "m");
}

TEST(Folded, TheSameWordsAtAnotherPlaceAreAnotherTest) {
  reports::Report report;
  report.violations = {behind("debug", violation("host-sync", 11)),
                       behind("debug", violation("host-sync", 31))};
  report.violations[1].flow[0].line = 30;
  fold_by_test(report);
  EXPECT_EQ(lines_of(report), (std::vector<int>{11, 31}));
}

TEST(Folded, WhatOneMacroMakesIsOneFinding) {
  reports::Report report;
  report.violations = {
      made_by("LAUNCH", violation("default-stream", 5)), violation("default-stream", 6),
      made_by("LAUNCH", violation("default-stream", 7)), made_by("OTHER", violation("default-stream", 8)),
      made_by("LAUNCH", violation("local-scratch", 9)),  made_by("LAUNCH", violation("default-stream", 10))};
  fold_by_macro(report);
  ASSERT_EQ(lines_of(report), (std::vector<int>{5, 6, 8, 9}));
  EXPECT_EQ(report.violations[0].message, "m; 2 more where LAUNCH is used");
  EXPECT_EQ(report.violations[0].details.at("also"), "default-stream a.cu:7, default-stream a.cu:10");
  EXPECT_EQ(report.violations[1].message, "m");
}

TEST(Folded, NoErrorHidesBehindAWarningAndNoTestBehindAnother) {
  reports::Report report;
  report.violations = {made_by("LAUNCH", behind("a", violation("host-sync", 5))),
                       made_by("LAUNCH", violation("host-sync", 6)),
                       made_by("LAUNCH", behind("b", violation("host-sync", 7)))};
  fold_by_macro(report);
  EXPECT_EQ(lines_of(report), (std::vector<int>{5, 6, 7}));
}

TEST(Folded, ACauseThatASymptomNamesStays) {
  reports::Report report;
  report.violations = {made_by("READ", violation("pageable-copy", 5)),
                       made_by("READ", violation("pageable-copy", 6)),
                       made_by("READ", violation("pageable-copy", 7)), violation("host-branch", 8)};
  report.violations[1].id = "cause";
  report.violations[3].symptom_of = "cause";
  fold_by_macro(report);
  EXPECT_EQ(lines_of(report), (std::vector<int>{5, 6, 8}));
}

// `merge` holds each of them against the run.
TEST(Folded, WhatAnAssumptionRulesOutKeepsItsPlace) {
  reports::Report report;
  report.violations = {made_by("LAUNCH", violation("host-sync", 5, Severity::note)),
                       made_by("LAUNCH", violation("host-sync", 6, Severity::note))};
  for (Violation& v : report.violations) v.details["assumed"] = "debug=0";
  fold_by_macro(report);
  EXPECT_EQ(lines_of(report), (std::vector<int>{5, 6}));
}

TEST(Folded, PlacesOfWhatWasFoldedBeforeAreKept) {
  reports::Report report;
  report.violations = {behind("debug", violation("host-sync", 11)),
                       made_by("LAUNCH", behind("debug", violation("host-sync", 12))),
                       made_by("LAUNCH", behind("debug", violation("host-sync", 13)))};
  fold_by_macro(report);
  fold_by_test(report);
  ASSERT_EQ(lines_of(report), (std::vector<int>{11}));
  EXPECT_EQ(report.violations[0].message, "m; 2 more behind the same test");
  EXPECT_EQ(report.violations[0].details.at("also"), "host-sync a.cu:12, host-sync a.cu:13");
}

// The lines of a file are what `text` holds; the finding stands where `marked` first occurs.
std::string macro_around(const std::string& text, const std::string& marked, const std::string& callee) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  Finding finding;
  finding.callee = callee;
  finding.place.file = "a.cu";
  const auto at = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.find(marked) != std::string::npos;
  });
  if (at == lines.end()) return "no such place";
  finding.place.line = static_cast<int>(at - lines.begin()) + 1;
  finding.place.column = static_cast<int>(at->find(marked)) + 1;
  const std::set<std::string> files{"a.cu"};
  return Macros(files, [&](const std::string&) -> const std::vector<std::string>& { return lines; })
      .around(finding);
}

TEST(Macros, TheBodyOfAMacroMakesTheCall) {
  EXPECT_EQ(macro_around("#define WAIT() cudaDeviceSynchronize()\nvoid f() { WAIT(); }\n", "WAIT(); }",
                         "cudaDeviceSynchronize"),
            "WAIT");
  EXPECT_EQ(
      macro_around("  #  define WAIT(s) \\\n    cudaStreamSynchronize(s)\nvoid f() { WAIT( //\n  s); }\n",
                   "WAIT( ", "cudaStreamSynchronize"),
      "WAIT")
      << "over two lines";
  EXPECT_EQ(macro_around("#define LAUNCH(k, s) k<<<1, 1>>>(s)\nvoid f() { LAUNCH(scale, s); }\n",
                         "LAUNCH(scale", "ns::scale"),
            "LAUNCH")
      << "the kernel is handed over, and the macro launches it";
}

TEST(Macros, AMacroThatWrapsTheCallIsNoCause) {
  const std::string check = "#define CHECK(x) x\n";
  EXPECT_EQ(macro_around(check + "void f() { CHECK(cudaMalloc(&p, n)); }\n", "CHECK(cuda", "cudaMalloc"), "");
  EXPECT_EQ(
      macro_around(check + "void f() { CHECK( //\n    cudaMalloc (&p, n)); }\n", "CHECK( ", "cudaMalloc"), "")
      << "over two lines";
  EXPECT_EQ(macro_around(check + "void f() { CHECK(scale<<<1, 1>>>(s)); }\n", "CHECK(scale", "scale"), "");
}

TEST(Macros, WhatNoMacroMakes) {
  EXPECT_EQ(macro_around("void f() { cudaDeviceSynchronize(); }\n", "cudaDevice", "cudaDeviceSynchronize"),
            "");
  EXPECT_EQ(macro_around("void wait();\nvoid f() { wait(); }\n", "wait(); }", "cudaDeviceSynchronize"), "")
      << "a function of the user's";
  EXPECT_EQ(macro_around("#define WAIT() x\nvoid f() { if (n) {} }\n", "if (n)", ""), "")
      << "a branch calls nothing";
  Finding beyond;
  beyond.callee = "x";
  beyond.place = {"a.cu", 9, 9};
  const std::set<std::string> files{"a.cu"};
  const std::vector<std::string> lines{"one"};
  EXPECT_EQ(Macros(files, [&](const std::string&) -> const std::vector<std::string>& { return lines; })
                .around(beyond),
            "");
}

}  // namespace
}  // namespace capgate::lint
