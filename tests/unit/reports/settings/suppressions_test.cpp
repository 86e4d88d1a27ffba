#include "reports/suppressions/suppressions.h"

#include <gtest/gtest.h>

#include "reports/verdict/finish.h"
#include "tests/unit/reports/sample.h"

namespace capgate::reports {
namespace {

using testing::clean_run;
using testing::clean_sources;
using testing::violation;

Suppressions file(std::string_view text) {
  auto entries = parse_suppressions(text, "s.supp");
  EXPECT_TRUE(entries.ok());
  return {*entries, {}};
}

Report judged(Report report, std::vector<Violation> faults, const Suppressions& suppressions,
              bool whole_source = false) {
  report.violations = std::move(faults);
  apply_suppressions(report, suppressions, whole_source);
  finish(report);
  return report;
}

TEST(SuppressionFile, ReadsEntriesWithTheirReasons) {
  const auto entries = parse_suppressions(
      "# comment\n\nhost-sync:engine::read_token  the sampler waits\n *:libfoo.so*\tnot ours \r\n", "s.supp");
  ASSERT_TRUE(entries.ok()) << entries.error();
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ((*entries)[0].rule, "host-sync");
  EXPECT_EQ((*entries)[0].glob, "engine::read_token");
  EXPECT_EQ((*entries)[0].reason, "the sampler waits");
  EXPECT_EQ((*entries)[0].origin, "s.supp:3");
  EXPECT_EQ((*entries)[1].rule, "*");
  EXPECT_EQ((*entries)[1].reason, "not ours");
}

TEST(SuppressionFile, SaysWhichLineIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"host-sync", "s.supp:1: expected `rule:frame-glob  reason`"},
      {"\nhost-sync:", "s.supp:2: the frame glob is missing; `*` matches any frame"},
      {"host-sync:f", "s.supp:1: the reason is missing: `rule:frame-glob  reason`"},
      {"host-sync:f  ", "s.supp:1: the reason is missing: `rule:frame-glob  reason`"},
      {"host-snyc:f  why", "s.supp:1: unknown rule \"host-snyc\"; did you mean host-sync?"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(parse_suppressions(text, "s.supp").error(), error);
}

TEST(SuppressionFile, SurvivesHostileText) {
  (void)parse_suppressions(std::string(1000000, ':'), "s");
  (void)parse_suppressions(std::string("\0:\xff \n:\n", 8), "s");
  (void)find_allow_comments("// capgate-allow(", "a");
  (void)find_allow_comments("// capgate-allow()capgate-allow(x)capgate-allow(:", "a");
}

TEST(SuppressionFile, MatchesAnyFrameOfTheStack) {
  Violation fault = violation("host-sync", "model/a.py", 3, "f");
  fault.stacks = {{StackRole::call,
                   {{FrameLanguage::native, "", 0, "cudaStreamSynchronize", "/x/libcudart.so.13", false},
                    {FrameLanguage::python, "/p/vllm/sampler.py", 7, "Sampler.sample", "", false}}}};
  for (const char* line : {"host-sync:f  r", "*:Sampler.*  r", "host-sync:model/*  r",
                           "host-sync:vllm/sampler.py  r", "host-sync:libcudart.so*  r"}) {
    const Report report = judged(clean_run(), {fault}, file(line));
    ASSERT_EQ(report.violations.size(), 1u) << line;
    ASSERT_TRUE(report.violations[0].suppressed) << line;
    EXPECT_EQ(report.violations[0].suppressed->origin, "s.supp:1");
    EXPECT_EQ(report.verdict, Verdict::pass);
    EXPECT_EQ(report.summary.suppressed, 1u);
  }
  for (const char* line : {"host-poll:f  r", "host-sync:g  r", "host-sync:ampler  r"}) {
    const Report report = judged(clean_run(), {fault}, file(line));
    EXPECT_EQ(report.verdict, Verdict::fail) << line;
  }
}

TEST(SuppressionFile, UnusedEntriesBecomeNotes) {
  const Report report = judged(clean_run(), {}, file("\nhost-sync:nobody  r\n"));
  ASSERT_EQ(report.violations.size(), 1u);
  EXPECT_EQ(report.violations[0].rule, "unused-suppression");
  EXPECT_EQ(report.violations[0].severity, Severity::note);
  EXPECT_EQ(report.violations[0].message, "host-sync:nobody suppressed nothing");
  EXPECT_EQ(report.violations[0].location.file, "s.supp");
  EXPECT_EQ(report.violations[0].location.line, 2);
  EXPECT_EQ(report.verdict, Verdict::pass);
  // Not by a producer that could not have seen the fault at all.
  EXPECT_TRUE(judged(clean_run(), {}, file("host-branch:nobody  r\n")).violations.empty());
  EXPECT_EQ(judged(clean_sources(), {}, file("host-branch:nobody  r\n")).violations.size(), 1u);
}

TEST(AllowComment, IsFoundInBothLanguages) {
  const auto comments = find_allow_comments(
      "x();  // capgate-allow(host-sync): once at start\n"
      "y = t.item()  # capgate-allow(host-sync):debug only\n"
      "/* capgate-allow(host-node): counted */ z();\n"
      "const char* s = \"capgate-allow(host-sync): no comment\";\n"
      "// capgate-allow(host-poll)\n",
      "a.cpp");
  ASSERT_EQ(comments.size(), 4u);
  EXPECT_EQ(comments[0].line, 1);
  EXPECT_EQ(comments[0].reason, "once at start");
  EXPECT_EQ(comments[1].reason, "debug only");
  EXPECT_EQ(comments[2].rule, "host-node");
  EXPECT_EQ(comments[2].reason.substr(0, 7), "counted");
  EXPECT_EQ(comments[3].reason, "");
}

TEST(AllowComment, HoldsForItsLineAndTheNext) {
  const Suppressions comments{{}, {{"a.cpp", 10, "host-sync", "why"}}};
  for (const int line : {9, 10, 11, 12}) {
    const Report report = judged(clean_run(), {violation("host-sync", "./a.cpp", line, "f")}, comments);
    EXPECT_EQ(report.violations[0].suppressed.has_value(), line == 10 || line == 11) << line;
  }
  EXPECT_FALSE(
      judged(clean_run(), {violation("host-poll", "a.cpp", 10, "f")}, comments).violations[0].suppressed);
  EXPECT_FALSE(
      judged(clean_run(), {violation("host-sync", "b.cpp", 10, "f")}, comments).violations[0].suppressed);
}

TEST(AllowComment, WithoutAReasonAllowsNothingAndSaysSo) {
  const Suppressions comments{{}, {{"a.cpp", 10, "host-sync", ""}, {"a.cpp", 20, "host-snyc", "why"}}};
  const Report report = judged(clean_run(), {violation("host-sync", "a.cpp", 10, "f")}, comments);
  EXPECT_EQ(report.verdict, Verdict::fail);
  ASSERT_EQ(report.violations.size(), 3u);
  EXPECT_EQ(report.violations[1].message, "capgate-allow(host-sync) has no reason, so it allows nothing");
  EXPECT_EQ(report.violations[2].message.substr(0, 24), "unknown rule \"host-snyc\"");
}

TEST(AllowComment, UnusedIsANoteOnlyWhereTheWholeSourceWasSeen) {
  const Suppressions comments{{}, {{"a.cpp", 10, "host-sync", "why"}}};
  EXPECT_TRUE(judged(clean_run(), {}, comments, false).violations.empty());
  EXPECT_EQ(judged(clean_sources(), {}, comments, true).violations.size(), 1u);
}

TEST(ScopedAllow, StaysWhatTheProducerSaid) {
  Violation fault = violation("host-sync", "a.cpp", 10, "f");
  fault.suppressed = Suppressed{"a probe", "capgate_allow"};
  const Report report = judged(clean_run(), {fault}, {{}, {{"a.cpp", 10, "host-sync", "why"}}});
  EXPECT_EQ(report.violations[0].suppressed->origin, "capgate_allow");
}

}  // namespace
}  // namespace capgate::reports
