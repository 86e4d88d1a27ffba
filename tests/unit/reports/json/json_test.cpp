#include "reports/json/json.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <sstream>

#include "base/files/read_text.h"
#include "reports/files/report_file.h"
#include "tests/unit/reports/golden.h"
#include "tests/unit/reports/sample.h"

namespace capgate::reports {
namespace {

using testing::clean_run;
using testing::clean_sources;
using testing::expect_golden;
using testing::failed_run;

std::string error_of(std::string_view text) {
  const auto report = from_json(text, "M.json");
  return report ? "" : report.error();
}

// The report's text with one thing in it replaced; the thing must be there.
std::string edited(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

std::string edited(const Report& report, const std::string& from, const std::string& to) {
  return edited(to_json(report), from, to);
}

// The line of the first fault's location, which no frame shares.
constexpr const char* kLine = "\"line\":212,\"function\":\"MoE.route\"}";

TEST(Json, WritesTheGoldenReports) {
  expect_golden("failed_run.json", to_json(failed_run()));
  expect_golden("clean_run.json", to_json(clean_run()));
  expect_golden("clean_sources.json", to_json(clean_sources()));
}

TEST(Json, ReadsBackWhatItWrote) {
  for (const auto& report : {failed_run(), clean_run(), clean_sources()}) {
    const std::string text = to_json(report);
    const auto again = from_json(text, "M.json");
    ASSERT_TRUE(again.ok()) << again.error();
    EXPECT_EQ(text, to_json(*again));
  }
}

TEST(Json, KeepsWhatAProducerAddsToTheSubject) {
  Report report = clean_run();
  report.subject.more = {{"checkpoint", "abc"}, {"mode", "must not win"}};
  const auto again = from_json(to_json(report), "M.json");
  ASSERT_TRUE(again.ok()) << again.error();
  EXPECT_EQ(again->subject.mode, "full");
  EXPECT_EQ(again->subject.more, (std::map<std::string, std::string>{{"checkpoint", "abc"}}));
}

TEST(Json, WritesBadUtf8AndNumbersThatAreNotFiniteSoThatTheyCanBeRead) {
  Report report = clean_run();
  report.subject.program = "\xff\xfe";
  report.metrics["waits_per_step"] = std::nan("");
  report.run->wall_s = INFINITY;
  const auto again = from_json(to_json(report), "M.json");
  ASSERT_TRUE(again.ok()) << again.error();
  EXPECT_EQ(again->subject.program, "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(again->metrics.at("waits_per_step"), 0);
}

TEST(Json, IgnoresKeysOfLaterVersions) {
  EXPECT_EQ(error_of(edited(clean_run(), "\"metrics\"", "\"later\": {\"a\": [1]}, \"metrics\"")), "");
}

TEST(Json, TellsATruncatedFile) {
  const std::string text = to_json(failed_run());
  for (const size_t size : {size_t{1}, size_t{100}, text.size() / 2, text.size() - 3}) {
    const std::string error = error_of(text.substr(0, size));
    EXPECT_NE(error.find("M.json: ends at byte " + std::to_string(size)), std::string::npos) << error;
    EXPECT_NE(error.find("truncated"), std::string::npos) << error;
  }
}

TEST(Json, SaysWhereTheTextIsNoJson) {
  EXPECT_EQ(error_of("{\"a\": 1,\n  nonsense}"), "M.json:2:4: not JSON: unexpected text");
  EXPECT_EQ(error_of(""), "M.json: is empty; a report was expected");
  EXPECT_EQ(error_of(" \n"), "M.json: is empty; a report was expected");
  EXPECT_EQ(error_of("\xff\xfe{}").substr(0, 17), "M.json:1:1: not J");
  EXPECT_EQ(error_of("{\"a\": 1e999}"), "M.json: holds a number that is too large to read");
  EXPECT_NE(error_of("{} trailing").find("not JSON"), std::string::npos);
}

TEST(Json, RefusesOtherSchemas) {
  EXPECT_EQ(error_of(edited(clean_run(), "capgate-report/1", "capgate-report/2")),
            "M.json: is of schema \"capgate-report/2\"; this capgate reads capgate-report/1");
  EXPECT_EQ(error_of("{\"schema\": 1}"), "M.json: has no \"schema\"; expected capgate-report/1");
  EXPECT_EQ(error_of("[]"), "M.json: expected an object with the key \"schema\"");
  EXPECT_EQ(schema_of("{\"schema\": \"sarif\"}"), "sarif");
  EXPECT_EQ(schema_of("{"), std::nullopt);
}

TEST(Json, NamesThePathOfWhatIsWrong) {
  EXPECT_EQ(error_of(edited(failed_run(), kLine, "\"line\":\"x\",\"function\":\"MoE.route\"}")),
            "M.json: violations[0].location.line: expected a whole number, found text");
  EXPECT_EQ(error_of(edited(failed_run(), "\"severity\":", "\"sev\":")),
            "M.json: violations[0]: the key \"severity\" is missing");
  EXPECT_EQ(error_of(edited(failed_run(), "\"severity\": \"error\"", "\"severity\": \"bad\"")),
            "M.json: violations[0].severity: \"bad\" is none of error, warning, note");
  EXPECT_EQ(error_of(edited(clean_run(), "\"memory_watched\":\"blocks\"", "\"memory_watched\":\"all\"")),
            "M.json: coverage.replay.memory_watched: \"all\" is none of no, segments, blocks");
  EXPECT_EQ(error_of(edited(clean_run(), "\"verdict\": \"pass\"", "\"verdict\": \"maybe\"")),
            "M.json: verdict: \"maybe\" is none of pass, fail, inconclusive");
  EXPECT_EQ(error_of(edited(clean_run(), "\"replays\": 160", "\"replays\": -1")),
            "M.json: coverage.replays: expected a whole number, not negative, found a negative number");
  EXPECT_EQ(error_of(edited(clean_run(), "\"reasons\": []", "\"reasons\": {}")),
            "M.json: reasons: expected a list, found an object");
  EXPECT_EQ(error_of(edited(clean_run(), "\"reasons\": []", "\"reasons\": [3]")),
            "M.json: reasons[0]: expected an object, found a number");
  EXPECT_EQ(error_of(edited(clean_run(), "[[1,2]]", "[[1]]")),
            "M.json: captures[0].edges[0]: expected a pair of node ids, found a list");
}

// Violations are read as they come by, and still told of in their place.
TEST(Json, NamesWhatIsWrongInViolationsInTheirTurn) {
  const auto with = [](const std::string& violations) {
    return edited(clean_run(), "\"violations\": []", "\"violations\": " + violations);
  };
  EXPECT_EQ(error_of(with("[3]")), "M.json: violations[0]: expected an object, found a number");
  EXPECT_EQ(error_of(with("[[{}]]")), "M.json: violations[0]: expected an object, found a list");
  EXPECT_EQ(error_of(with("{}")), "M.json: violations: expected a list, found an object");
  EXPECT_EQ(error_of(with("{\"a\": [{}]}")), "M.json: violations: expected a list, found an object");
  EXPECT_EQ(error_of(with("null")), "M.json: violations: expected a list, found null");
  EXPECT_EQ(error_of(edited(failed_run(), "\"violations\":", "\"violation\":")),
            "M.json: the key \"violations\" is missing");
  // The verdict stands before the violations, the summary behind them.
  EXPECT_EQ(error_of(edited(with("[{}]"), "\"verdict\": \"pass\"", "\"verdict\": \"maybe\"")),
            "M.json: verdict: \"maybe\" is none of pass, fail, inconclusive");
  EXPECT_EQ(error_of(edited(with("[{}]"), "\"by_rule\":", "\"by\":")),
            "M.json: violations[0]: the key \"id\" is missing");
}

TEST(Json, ReadsAStreamAsItReadsAText) {
  const auto streamed = [](const std::string& text) {
    std::istringstream in(text);
    return from_json(in);
  };
  for (const auto& report : {failed_run(), clean_run(), clean_sources()}) {
    const auto read = streamed(to_json(report));
    ASSERT_TRUE(read);
    EXPECT_EQ(to_json(*read), to_json(report));
  }
  const std::string text = to_json(failed_run());
  for (const std::string& broken :
       {std::string(), std::string("{"), std::string("[]"), text.substr(0, text.size() / 2), text + "x",
        edited(text, "\"severity\":", "\"sev\":"), edited(text, "capgate-report/1", "capgate-report/2"),
        std::string(100, '['), std::string("{\"a\": 1e999}")})
    EXPECT_FALSE(streamed(broken)) << broken.substr(0, 60);
}

TEST(Json, RefusesNumbersOutOfRange) {
  for (const char* number : {"99999999999", "18446744073709551615", "-99999999999"}) {
    const std::string error = error_of(
        edited(failed_run(), kLine, std::string("\"line\":") + number + ",\"function\":\"MoE.route\"}"));
    EXPECT_EQ(error, "M.json: violations[0].location.line: the number is out of range") << number;
  }
}

TEST(Json, RefusesNegativeLinesColumnsAndTimes) {
  const auto refused = [](const std::string& text, const std::string& where) {
    EXPECT_EQ(error_of(text), "M.json: " + where + ": the number is negative");
  };
  refused(edited(failed_run(), kLine, "\"line\":-1,\"function\":\"MoE.route\"}"),
          "violations[0].location.line");
  refused(edited(failed_run(), kLine, "\"line\":212,\"column\":-3,\"function\":\"MoE.route\"}"),
          "violations[0].location.column");
  refused(edited(failed_run(), "\"duration_us\": ", "\"duration_us\": -"), "captures[0].duration_us");
  // Too large for a signed number is not negative.
  EXPECT_EQ(
      error_of(edited(failed_run(), "\"duration_us\": ", "\"duration_us\": 18446744073709551615, \"x\": ")),
      "");
  Report report = failed_run();
  report.violations.resize(1);
  report.violations[0].source = {{-7, "text"}};
  refused(to_json(report), "violations[0].source[0].line");
  report.violations[0].source.clear();
  report.violations[0].flow = {{"file", -7, "message"}};
  refused(to_json(report), "violations[0].flow[0].line");
  report.violations[0].flow.clear();
  report.violations[0].stacks.back().frames.back().line = -7;
  const size_t stack = report.violations[0].stacks.size() - 1;
  const size_t frame = report.violations[0].stacks.back().frames.size() - 1;
  refused(to_json(report),
          "violations[0].stacks[" + std::to_string(stack) + "].frames[" + std::to_string(frame) + "].line");
}

TEST(Json, RefusesAKeyThatStandsTwice) {
  for (const auto& [from, to, said] : std::vector<std::array<std::string, 3>>{
           {"\"verdict\":", "\"verdict\": \"pass\", \"verdict\":", "the key \"verdict\" appears twice"},
           {"\"violations\":", "\"violations\": [], \"violations\":", "the key \"violations\" appears twice"},
           {"\"sm\":", "\"sm\": 1, \"sm\":", "subject: the key \"sm\" appears twice"},
           {kLine, std::string("\"line\":1,") + kLine,
            "violations[0].location: the key \"line\" appears twice"},
           {"\"waits_per_step\":", "\"waits_per_step\":0,\"waits_per_step\":",
            "metrics: the key \"waits_per_step\" appears twice"},
           {"\"verdict\":", "\"later\": [[0], {\"a\": {\"b\": 1, \"b\": 1}}], \"verdict\":",
            "later[1].a: the key \"b\" appears twice"},
           {"\"verdict\":", "\"verd\\u0069ct\": 0, \"verdict\":", "the key \"verdict\" appears twice"}}) {
    const std::string text = edited(failed_run(), from, to);
    EXPECT_EQ(error_of(text), "M.json: " + said);
    std::istringstream in(text);
    EXPECT_FALSE(from_json(in));
  }
  // One key in neighbours is none twice.
  EXPECT_EQ(error_of(edited(clean_run(),
                            "\"verdict\":", "\"later\": [{\"a\": 1}, {\"a\": {\"a\": 1}}], \"verdict\":")),
            "");
}

TEST(Json, RefusesObjectsOfMoreKeysThanAreRead) {
  const auto with = [](int keys) {
    std::string text;
    for (int i = 0; i < keys; ++i) text += (i ? ",\"" : "\"") + std::to_string(i) + "\":0";
    return edited(clean_run(), "\"verdict\":", "\"later\": {" + text + "}, \"verdict\":");
  };
  EXPECT_EQ(error_of(with(1000)), "");
  EXPECT_EQ(error_of(with(1001)), "M.json: an object of more than 1000 keys; this is no report");
  EXPECT_EQ(error_of(with(3000000)), "M.json: an object of more than 1000 keys; this is no report");
}

std::string nested(int levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

TEST(Json, RefusesDeepNesting) {
  EXPECT_EQ(error_of(nested(64)), "M.json: expected an object with the key \"schema\"");
  EXPECT_EQ(error_of(nested(65)), "M.json: nested deeper than 64 levels; this is no report");
  EXPECT_EQ(error_of(nested(100000)), "M.json: nested deeper than 64 levels; this is no report");
  EXPECT_EQ(error_of(std::string(1000000, '[')), "M.json: nested deeper than 64 levels; this is no report");
}

// Every prefix and every single changed byte of a report: an answer or a sentence, never a crash.
TEST(Json, SurvivesMutations) {
  const std::string text = to_json(failed_run());
  for (size_t i = 0; i < text.size(); i += 7) {
    std::string mutant = text;
    for (const char byte : {'"', '{', ']', '9', '-', '\0', '\xff'}) {
      mutant[i] = byte;
      const auto report = from_json(mutant, "M.json");
      if (report)
        EXPECT_FALSE(to_json(*report).empty());
      else
        EXPECT_EQ(report.error().rfind("M.json", 0), 0u);
    }
  }
}

}  // namespace
}  // namespace capgate::reports
