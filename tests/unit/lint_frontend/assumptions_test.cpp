// Tests of host values: what an assumption rules out, what nothing sets, and what a report says of either.
#include "static_checks/driver/assumptions.h"

#include <gtest/gtest.h>

#include "static_checks/driver/guarded.h"

namespace capgate::lint {
namespace {

TestTerm term(const char* text, const char* key, const char* relation, int64_t value) {
  TestTerm made;
  made.text = text;
  made.key = key;
  made.relation = relation;
  made.value = value;
  return made;
}

HostTest test_of(const char* text, std::vector<TestTerm> terms, bool all = true) {
  HostTest made;
  made.place = {"/src/a.cu", 12, 3};
  made.text = text;
  made.all = all;
  made.terms = std::move(terms);
  return made;
}

std::vector<Assumption> assume(const char* text) {
  return {*read_assumption(text, "--assume")};
}

TEST(Assumptions, AreReadOrRefusedWithASentence) {
  EXPECT_EQ(read_assumption("cfg.debug=0", "--assume")->value, 0);
  EXPECT_EQ(read_assumption("cfg.debug=true", "--assume")->value, 1);
  EXPECT_EQ(read_assumption("getenv(X)=unset", "--assume")->value, 0);
  EXPECT_EQ(read_assumption("n=-3", "--assume")->value, -3);
  EXPECT_EQ(read_assumption("a==b=2", "--assume")->name, "a==b");
  for (const char* bad : {"cfg.debug", "=1", "n=", "n=1x", "n=yes", "n= 1"}) {
    const Result<Assumption> read = read_assumption(bad, "--assume");
    ASSERT_FALSE(read) << bad;
    EXPECT_TRUE(read.error().starts_with("--assume: '")) << read.error();
  }
}

TEST(Assumptions, RuleOutWhatAnotherValueLeadsTo) {
  const HostTest debug = test_of("cfg.debug", {term("cfg.debug", "app::Config::debug", "!=", 0)});
  for (const char* name : {"cfg.debug=0", "app::Config::debug=false", "Config::debug=0", "debug=0"})
    EXPECT_TRUE(ruled_out(debug, assume(name))) << name;
  for (const char* name : {"cfg.debug=1", "bug=0", "Config::debu=0", "other.debug=0"})
    EXPECT_FALSE(ruled_out(debug, assume(name))) << name;
  const HostTest level = test_of("level > 2", {term("level", "level", ">", 2)});
  EXPECT_TRUE(ruled_out(level, assume("level=2")));
  EXPECT_FALSE(ruled_out(level, assume("level=3")));
}

TEST(Assumptions, OneTermOfAConjunctionIsEnoughAndOfADisjunctionNone) {
  const std::vector<TestTerm> both{term("a", "a", "!=", 0), term("b", "b", "!=", 0)};
  EXPECT_TRUE(ruled_out(test_of("a && b", both, true), assume("a=0")));
  EXPECT_FALSE(ruled_out(test_of("a || b", both, false), assume("a=0")));
  std::vector<Assumption> two = assume("a=0");
  two.push_back(*read_assumption("b=0", "--assume"));
  EXPECT_TRUE(ruled_out(test_of("a || b", both, false), two));
  EXPECT_FALSE(ruled_out(test_of("?", {}, true), two)) << "a test of no known terms is open";
}

TEST(Assumptions, WhatNothingSetsKeepsItsInitialValue) {
  TestTerm flag = term("g_debug", "g_debug", "!=", 0);
  flag.id = "/src/a.cu:3:13";
  flag.has_initial = true;
  const HostTest test = test_of("g_debug", {flag});
  EXPECT_TRUE(never_holds(test, {}));
  EXPECT_FALSE(never_holds(test, {"/src/a.cu:3:13"}));
  flag.initial = 1;
  EXPECT_FALSE(never_holds(test_of("g_debug", {flag}), {}));
  flag.initial = 0;
  flag.has_initial = false;
  EXPECT_FALSE(never_holds(test_of("g_debug", {flag}), {}));
  TestTerm member = term("cfg.debug", "Config::debug", "!=", 0);
  member.id = "Config::debug";
  member.has_initial = true;
  EXPECT_TRUE(never_holds(test_of("cfg.debug", {member}), {"Config::level"}));
  EXPECT_FALSE(never_holds(test_of("cfg.debug", {member}), {"Config::*"}))
      << "an object may be set as a whole";
}

Finding behind(HostTest test) {
  Finding f;
  f.rule = "host-sync";
  f.severity = reports::Severity::warning;
  f.message = "cudaStreamSynchronize waits for the device";
  f.place = {"/src/a.cu", 13, 3};
  f.flow = {{f.place, f.message}};
  f.tests = {std::move(test)};
  return f;
}

TEST(Guarded, AMessageNamesTheTestAndItsPlace) {
  Finding f = behind(test_of("cfg.debug", {term("cfg.debug", "Config::debug", "!=", 0)}));
  Guarded({}, {}, true).settle(f);
  EXPECT_EQ(f.severity, reports::Severity::warning);
  EXPECT_EQ(f.message, "cudaStreamSynchronize waits for the device, only if cfg.debug");
  EXPECT_EQ(f.details.at("only_if"), "cfg.debug");
  ASSERT_EQ(f.flow.size(), 2u);
  EXPECT_EQ(f.flow[0].place.line, 12);
}

TEST(Guarded, AnAssumptionMakesANoteAndOneThatRulesNothingOutIsNamed) {
  Finding f = behind(test_of("cfg.debug", {term("cfg.debug", "Config::debug", "!=", 0)}));
  std::vector<Assumption> two = assume("cfg.debug=0");
  two.push_back(*read_assumption("cfg.verbose=0", "--assume"));
  const Guarded guarded(two, {}, true);
  guarded.settle(f);
  EXPECT_EQ(f.severity, reports::Severity::note);
  EXPECT_TRUE(f.message.ends_with("(ruled out by the assumption cfg.debug=0)")) << f.message;
  reports::Report report;
  guarded.report_unused(report);
  ASSERT_EQ(report.coverage.not_checked.size(), 1u);
  EXPECT_TRUE(report.coverage.not_checked[0].starts_with("the assumption cfg.verbose=0 (--assume)"));
}

TEST(Guarded, OnlyOfAWholeProgramIsItKnownThatNothingSetsAValue) {
  TestTerm flag = term("g_debug", "g_debug", "!=", 0);
  flag.id = "/src/a.cu:3:13";
  flag.has_initial = true;
  UnitSummary unit;
  const auto severity = [&](bool whole) {
    Finding f = behind(test_of("g_debug", {flag}));
    Guarded({}, {unit}, whole).settle(f);
    return f.severity;
  };
  EXPECT_EQ(severity(true), reports::Severity::warning) << "a library: its users may set it";
  unit.has_main = true;
  EXPECT_EQ(severity(true), reports::Severity::note);
  EXPECT_EQ(severity(false), reports::Severity::warning) << "some units were not looked at";
  unit.set = {"/src/a.cu:3:13"};
  EXPECT_EQ(severity(true), reports::Severity::warning);
}

}  // namespace
}  // namespace capgate::lint
