#include <gtest/gtest.h>

#include <algorithm>

#include "static_checks/analysis.h"

namespace capgate::lint {
namespace {

Finding finding(const char* rule, const char* file, int line) {
  Finding f;
  f.rule = rule;
  f.place = {file, line, 3};
  f.callee = "call";
  f.message = "what happens";
  f.flow.push_back({f.place, f.message});
  return f;
}

CallSite call(const char* usr, const char* file, int line, Guards guards = {}) {
  return {usr, usr, {file, line, 1}, guards};
}

UnitSummary decode_unit() {
  UnitSummary unit;
  unit.main_file = "decode.cu";
  unit.exits.push_back(
      {"capture at decode.cu:4", {{{"decode.cu", 4, 1}, "begins"}}, call("attention", "decode.cu", 5)});
  return unit;
}

UnitSummary layer_unit(Guards guards = {}) {
  UnitSummary unit;
  unit.main_file = "layer.cu";
  FunctionSummary attention;
  attention.usr = attention.name = "attention";
  attention.latent.push_back({finding("device-alloc", "layer.cu", 10), {}});
  attention.calls.push_back(call("flush", "layer.cu", 12, guards));
  unit.functions.push_back(attention);
  return unit;
}

UnitSummary debug_unit() {
  UnitSummary unit;
  unit.main_file = "debug.cu";
  FunctionSummary flush;
  flush.usr = flush.name = "flush";
  flush.latent.push_back({finding("host-sync", "debug.cu", 20), {}});
  flush.latent.push_back({finding("host-alloc", "debug.cu", 21), {}});
  flush.calls.push_back(call("attention", "debug.cu", 22));  // a cycle
  unit.functions.push_back(flush);
  FunctionSummary stray;
  stray.usr = stray.name = "stray";
  stray.latent.push_back({finding("host-sync", "debug.cu", 30), {}});
  unit.functions.push_back(stray);
  return unit;
}

std::vector<std::string> names(const LinkResult& result) {
  std::vector<std::string> all;
  all.reserve(result.findings.size());
  for (const Finding& f : result.findings) all.push_back(f.rule + ":" + std::to_string(f.place.line));
  std::sort(all.begin(), all.end());
  return all;
}

TEST(Link, FollowsCallsThroughUnitsAndNothingElse) {
  const LinkResult result = link_units({decode_unit(), layer_unit(), debug_unit()});
  EXPECT_EQ(names(result), (std::vector<std::string>{"device-alloc:10", "host-alloc:21", "host-sync:20"}));
  for (const Finding& f : result.findings) EXPECT_EQ(f.region, "capture at decode.cu:4");
  const auto sync = std::find_if(result.findings.begin(), result.findings.end(),
                                 [](const Finding& f) { return f.rule == "host-sync"; });
  ASSERT_EQ(sync->flow.size(), 4u);
  EXPECT_EQ(sync->flow[0].message, "begins");
  EXPECT_EQ(sync->flow[1].message, "calls attention()");
  EXPECT_EQ(sync->flow[2].message, "calls flush()");
  EXPECT_EQ(sync->flow[3].place.line, 20);
}

// The region's unit has judged what the region calls in it, not what another unit calls in it on the way.
TEST(Link, ComesBackToTheUnitOfTheRegion) {
  UnitSummary decode = decode_unit();
  FunctionSummary copy;
  copy.usr = copy.name = "copy";
  copy.latent.push_back({finding("sync-copy", "decode.cu", 30), {}});
  decode.functions.push_back(copy);
  UnitSummary layer = layer_unit();
  layer.functions[0].calls = {call("copy", "layer.cu", 14)};
  EXPECT_EQ(names(link_units({decode, layer})),
            (std::vector<std::string>{"device-alloc:10", "sync-copy:30"}));
  decode.exits[0].call = call("copy", "decode.cu", 5);
  EXPECT_TRUE(link_units({decode, layer}).findings.empty());
}

HostTest test_of(const char* text, int line) {
  HostTest test;
  test.place = {"decode.cu", line, 7};
  test.text = text;
  return test;
}

// Behind either side of a test, the test decides nothing; what both ways ask remains.
TEST(Link, OppositeTestsOfTwoWaysAreNone) {
  UnitSummary decode = decode_unit();
  UnitSummary layer = layer_unit();
  layer.functions[0].calls.clear();
  const auto severities = [&](std::vector<std::vector<HostTest>> ways) {
    decode.exits.clear();
    for (size_t i = 0; i < ways.size(); ++i) {
      CallSite site = call("attention", "decode.cu", 5 + static_cast<int>(i));
      site.tests = ways[i];
      decode.exits.push_back({"capture at decode.cu:4", {{{"decode.cu", 4, 1}, "begins"}}, site});
    }
    const LinkResult result = link_units({decode, layer});
    std::vector<std::string> told;
    for (const Finding& f : result.findings) {
      told.push_back(f.severity == reports::Severity::error ? "error" : "warning");
      for (const HostTest& test : f.tests) told.push_back(test.text);
    }
    return told;
  };
  using Words = std::vector<std::string>;
  const HostTest tuned = test_of("tuned", 3), untuned = test_of("!tuned", 3), wide = test_of("rows > 4", 4);
  EXPECT_EQ(severities({{tuned}}), (Words{"warning", "tuned"}));
  EXPECT_EQ(severities({{tuned}, {untuned}}), (Words{"error"}));
  EXPECT_EQ(severities({{tuned, wide}, {untuned, wide}}), (Words{"warning", "rows > 4"}));
  EXPECT_EQ(severities({{tuned}, {test_of("!tuned", 9)}}), (Words{"warning", "tuned"}));
  EXPECT_EQ(severities({{tuned}, {untuned, wide}}), (Words{"warning", "tuned"}));
  EXPECT_EQ(severities({{tuned}, {wide}, {untuned}}), (Words{"error"}));
}

TEST(Link, AnotherProjectsCodeBehindALinkedUnitIsNamedAndNoReason) {
  UnitSummary layer = layer_unit();
  layer.functions[0].open = {{"engine::enqueue", {"/engine.h", 3, 1}, "a region calls it", "", "", true}};
  const LinkResult result = link_units({decode_unit(), layer, debug_unit()});
  ASSERT_EQ(result.not_analysed.size(), 1u);
  EXPECT_TRUE(result.not_analysed[0].aside);
  EXPECT_EQ(result.not_analysed[0].region, "");
}

TEST(Link, TheOrderOfUnitsDoesNotMatter) {
  std::vector<UnitSummary> units{decode_unit(), layer_unit(), debug_unit()};
  const LinkResult first = link_units(units);
  std::reverse(units.begin(), units.end());
  const LinkResult second = link_units(units);
  ASSERT_EQ(first.findings.size(), second.findings.size());
  for (size_t i = 0; i < first.findings.size(); ++i) {
    EXPECT_EQ(first.findings[i].place, second.findings[i].place);
    EXPECT_EQ(first.findings[i].flow, second.findings[i].flow);
  }
}

TEST(Link, GuardsOnTheWayCount) {
  Guards guards;
  guards.not_capturing = true;
  EXPECT_EQ(names(link_units({decode_unit(), layer_unit(guards), debug_unit()})),
            (std::vector<std::string>{"device-alloc:10"}));
  guards = {};
  guards.relaxed_mode = true;
  EXPECT_EQ(names(link_units({decode_unit(), layer_unit(guards), debug_unit()})),
            (std::vector<std::string>{"device-alloc:10", "host-sync:20"}));
  guards = {};
  guards.eager_break = true;
  const LinkResult result = link_units({decode_unit(), layer_unit(guards), debug_unit()});
  ASSERT_EQ(names(result), (std::vector<std::string>{"device-alloc:10", "host-sync:20"}));
  for (const Finding& f : result.findings)
    EXPECT_EQ(f.severity, f.rule == "host-sync" ? reports::Severity::note : reports::Severity::error);
}

TEST(Link, ReachingAFunctionThatWasNotAnalysedSaysSo) {
  UnitSummary layer = layer_unit();
  layer.functions[0].open = {
      {"attention", {"/src/layer.cu", 9, 1}, "the parser found an error at line 9", "", ""}};
  const LinkResult result = link_units({decode_unit(), layer, debug_unit()});
  ASSERT_EQ(result.not_analysed.size(), 1u);
  EXPECT_EQ(result.not_analysed[0].function, "attention");
  EXPECT_EQ(result.not_analysed[0].region, "capture at decode.cu:4");
  EXPECT_TRUE(link_units({layer}).not_analysed.empty());
}

TEST(Link, CallingAFunctionWhoseBodyIsNowhereSaysSo) {
  const LinkResult result = link_units({decode_unit(), layer_unit()});
  ASSERT_EQ(result.not_analysed.size(), 1u);
  EXPECT_EQ(result.not_analysed[0].region, "capture at decode.cu:4");
  UnitSummary quiet;
  quiet.main_file = "/src/quiet.cu";
  quiet.silent = {result.not_analysed[0].usr};
  EXPECT_TRUE(link_units({decode_unit(), layer_unit(), quiet}).not_analysed.empty());
}

TEST(Link, EachGapOfAFunctionIsAReason) {
  UnitSummary layer = layer_unit();
  layer.functions[0].open = {{"attention", {"/src/layer.cu", 9, 1}, "what 'a' calls is not known", "do", ""},
                             {"helper", {"/src/layer.cu", 3, 1}, "what 'b' calls is not known", "do", ""}};
  const LinkResult result = link_units({decode_unit(), layer, debug_unit()});
  ASSERT_EQ(result.not_analysed.size(), 2u);
  EXPECT_EQ(result.not_analysed[1].function, "helper");
  EXPECT_EQ(result.not_analysed[1].place.line, 3);
  EXPECT_EQ(result.not_analysed[1].remedy, "do");
}

TEST(Link, AVirtualMethodThatNothingOverridesIsNotSaidToHaveItsBodyElsewhere) {
  UnitSummary decode = decode_unit();
  for (RegionExit& exit : decode.exits) exit.call.is_virtual = true;
  const LinkResult result = link_units({decode});
  ASSERT_FALSE(result.not_analysed.empty());
  EXPECT_NE(result.not_analysed[0].reason.find("overrides it"), std::string::npos);
}

TEST(Link, ACaptureThatNothingInSightEndsIsAReason) {
  UnitSummary bridge;
  bridge.main_file = "/src/bridge.cu";
  const OpenPlace open{"begin",
                       {"/src/bridge.cu", 5, 3},
                       "the capture that begin() begins is …",
                       "lint",
                       "capture at bridge.cu:5"};
  bridge.left_open = {{"c:@F@begin", open}};
  const LinkResult alone = link_units({bridge, bridge});
  ASSERT_EQ(alone.not_analysed.size(), 1u);
  EXPECT_TRUE(alone.not_analysed[0].whole);
  EXPECT_EQ(alone.not_analysed[0].region, "capture at bridge.cu:5");
  UnitSummary caller;
  caller.main_file = "/src/caller.cu";
  caller.continued = {"c:@F@begin"};
  EXPECT_TRUE(link_units({bridge, caller}).not_analysed.empty());
  bridge.left_open[0].usr.clear();  // of internal linkage: nobody else's
  EXPECT_EQ(link_units({bridge, caller}).not_analysed.size(), 1u);
}

TEST(Link, InternalFunctionsOfAnotherUnitAreNotTheOnesCalled) {
  UnitSummary layer = layer_unit();
  layer.functions[0].internal = true;
  EXPECT_TRUE(link_units({decode_unit(), layer, debug_unit()}).findings.empty());
}

CallGraph::Node node(const char* usr, int line, std::vector<uint32_t> calls = {},
                     std::vector<std::string> leaves = {}) {
  CallGraph::Node n;
  n.usr = usr;
  n.line = line;
  n.calls = std::move(calls);
  n.leaves = std::move(leaves);
  return n;
}

std::vector<std::pair<std::string, int>> lines(const RegionReach& reach) {
  std::vector<std::pair<std::string, int>> all;
  for (const Place& place : reach.functions) all.emplace_back(place.file, place.line);
  return all;
}

// Every function that a region may come to, silent ones and those without linkage included, and no other.
TEST(Reach, FollowsCallsOutOfTheUnitAndInsideTheOthers) {
  UnitSummary decode;
  decode.main_file = "decode.cu";
  decode.graph.files = {"decode.cu"};
  decode.graph.nodes = {node("step", 4, {}, {"attention"}), node("load", 9, {}, {"read"})};
  decode.graph.nodes[0].in_region = true;
  UnitSummary layer;
  layer.main_file = "layer.cu";
  layer.graph.files = {"layer.cu", "layer.h"};
  layer.graph.nodes = {node("attention", 10, {1}), node("half", 3), node("read", 20, {1, 3}),
                       node("half", 30)};
  layer.graph.nodes[1].internal = layer.graph.nodes[3].internal = true;
  layer.graph.nodes[1].file = 1;
  UnitSummary other;
  other.main_file = "other.cu";
  other.graph.files = {"other.cu"};
  other.graph.nodes = {node("half", 7)};  // of the same name, without linkage there
  const RegionReach reach = reach_of_regions({other, layer, decode});
  EXPECT_EQ(lines(reach),
            (std::vector<std::pair<std::string, int>>{{"decode.cu", 4}, {"layer.cu", 10}, {"layer.h", 3}}));
  EXPECT_EQ(reach.in_units, (std::set<std::string>{"decode.cu", "layer.cu"}));
}

// A virtual method has its overriders in other units; one without a body here is no place of its own.
TEST(Reach, FollowsAVirtualMethodToItsOverriders) {
  UnitSummary decode;
  decode.main_file = "decode.cu";
  decode.graph.files = {"decode.cu"};
  decode.graph.nodes = {node("step", 4, {}, {"Layer::run"})};
  decode.graph.nodes[0].in_region = true;
  UnitSummary far;
  far.main_file = "far.cu";
  far.graph.files = {"far.cu"};
  far.graph.nodes = {node("Layer::run", 0, {1}), node("Far::run", 6, {0}), node("unused", 8)};
  EXPECT_EQ(lines(reach_of_regions({decode, far})),
            (std::vector<std::pair<std::string, int>>{{"decode.cu", 4}, {"far.cu", 6}}));
  EXPECT_TRUE(reach_of_regions({far}).functions.empty());
}

}  // namespace
}  // namespace capgate::lint
