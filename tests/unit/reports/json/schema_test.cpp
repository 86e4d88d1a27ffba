// Every report that we write follows the schema that we publish, and the schema refuses what is none.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/files/read_text.h"
#include "reports/catalogue/catalogue_json.h"
#include "reports/json/json.h"
#include "reports/verdict/finish.h"
#include "tests/support/report_schema.h"
#include "tests/unit/reports/golden.h"
#include "tests/unit/reports/sample.h"

namespace capgate::reports {
namespace {

using Json = nlohmann::json;
using test::departures_from_schema;

TEST(Schema, HoldsForEveryGoldenReport) {
  int seen = 0;
  for (const auto& file : std::filesystem::directory_iterator(CAPGATE_GOLDEN_DIR)) {
    if (file.path().extension() != ".json") continue;
    const auto text = read_text(file.path().string());
    ASSERT_TRUE(text.ok()) << text.error();
    EXPECT_EQ(departures_from_schema(Json::parse(*text)), "") << file.path();
    ++seen;
  }
  EXPECT_GE(seen, 4);
}

TEST(Schema, HoldsForAReportWithEveryOptionalKey) {
  Report report = testing::failed_run();
  Violation& fault = report.violations.front();
  fault.location.column = 8;
  fault.device = 1;
  fault.bytes = 4;
  fault.blocked_us = 1.5;
  fault.flow = {{"a.cpp", 1, "copied here"}};
  fault.per_step = PerStep{4, 8, 51.5, {{1, "warm-up"}}};
  report.violations[1].symptom_of = fault.id;
  fault.baseline = BaselineState::new_since;
  report.coverage.processes[0].rank = 3;
  report.run->signal = 9;
  report.run->exit_code.reset();
  EXPECT_EQ(departures_from_schema(Json::parse(to_json(report))), "");
}

TEST(Schema, HoldsForAnEmptyReport) {
  Report report;
  report.tool.component = Component::detector;
  finish(report);
  EXPECT_EQ(departures_from_schema(Json::parse(to_json(report))), "");
}

TEST(Schema, RefusesWhatIsNoReport) {
  const Json good = Json::parse(to_json(testing::failed_run()));
  ASSERT_EQ(departures_from_schema(good), "");
  const std::pair<const char*, std::function<void(Json&)>> edits[] = {
      {"another schema", [](Json& j) { j["schema"] = "capgate-report/2"; }},
      {"another verdict", [](Json& j) { j["verdict"] = "maybe"; }},
      {"another severity", [](Json& j) { j["violations"][0]["severity"] = "fatal"; }},
      {"another phase", [](Json& j) { j["violations"][0]["phase"] = "boot"; }},
      {"another component", [](Json& j) { j["tool"]["component"] = "guess"; }},
      {"no evidence", [](Json& j) { j["violations"][0]["evidence"] = Json::array(); }},
      {"an id that is none", [](Json& j) { j["violations"][0]["id"] = "1"; }},
      {"a suppression without a reason",
       [](Json& j) { j["violations"][0]["suppressed"] = {{"origin", "x"}}; }},
      {"a suppression with an empty reason",
       [](Json& j) { j["violations"][0]["suppressed"] = {{"origin", "x"}, {"reason", ""}}; }},
      {"a negative count", [](Json& j) { j["violations"][0]["count"] = -1; }},
      {"a line as text", [](Json& j) { j["violations"][0]["location"]["line"] = "1"; }},
      {"an edge of three", [](Json& j) { j["captures"][0]["edges"] = {{1, 2, 3}}; }},
      {"a result that is none", [](Json& j) { j["captures"][0]["result"] = "fine"; }},
      {"a bar of no kind", [](Json& j) { j["timeline"]["threads"][0]["bars"][0]["kind"] = "guess"; }},
      {"a bar before the run", [](Json& j) { j["timeline"]["threads"][0]["bars"][0]["begin_us"] = -1; }},
      {"nodes of no capture", [](Json& j) { j["violations"][0]["nodes"] = {{{"ids", {1}}}}; }},
      {"a metric as text", [](Json& j) { j["metrics"]["waits_per_step"] = "1"; }},
      {"details that are no text", [](Json& j) { j["violations"][0]["details"]["a"] = 1; }},
      {"a list for an object", [](Json& j) { j["summary"] = Json::array(); }},
  };
  for (const auto& [what, edit] : edits) {
    Json bad = good;
    edit(bad);
    EXPECT_NE(departures_from_schema(bad), "") << what;
  }
  for (const auto& [key, value] : good.items()) {
    Json bad = good;
    if (key == "timeline") continue;  // an older report has none
    bad.erase(key);
    EXPECT_NE(departures_from_schema(bad), "") << "without " << key;
  }
}

}  // namespace
}  // namespace capgate::reports
