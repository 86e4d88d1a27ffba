#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "reports/catalogue/catalogue.h"
#include "reports/formats/formats.h"
#include "reports/formats/parts.h"
#include "reports/formats/sarif_locations.h"
#include "reports/model/names.h"

namespace capgate::reports {
namespace {

using Json = nlohmann::ordered_json;
using namespace formats;

constexpr size_t kMostResults = 25'000;  // GitHub refuses a run with more
constexpr size_t kShownResults =
    5'000;  // and shows so many: only they have stacks, so that a file stays small

Json text(std::string_view words) {
  return {{"text", printable(words)}};
}

std::string_view level(Severity severity) {
  return name(severity);  // SARIF has the same three words
}

// Descriptions have paragraphs, which printable() would join.
Json description(std::string_view words) {
  return {{"text", words}};
}

Json rule_json(const Rule& rule) {
  const std::string fence = "```";
  const std::string help = fmt::format("{}\n\n{}", rule.why, rule.fix);
  const std::string markdown =
      fmt::format("{0}\n\n**Fix**\n\n{1}\n\nWrong:\n\n{2}{3}\n{4}\n{2}\n\nRight:\n\n{2}{3}\n{5}\n{2}\n",
                  rule.why, rule.fix, fence, rule.language, rule.bad, rule.good);
  return {{"id", rule.id},
          {"shortDescription", description(rule.title)},
          {"fullDescription", description(rule.fault)},
          {"help", {{"text", help}, {"markdown", markdown}}},
          {"defaultConfiguration", {{"level", rule.in_region.starts_with("error") ? "error" : "warning"}}},
          {"properties", {{"tags", {"cuda-graphs"}}}}};
}

// The rules of the run's results, and where each is in the list.
class RuleList {
 public:
  size_t index_of(const std::string& id) {
    const auto [place, is_new] = places_.try_emplace(id, list_.size());
    if (is_new) {
      const Rule* rule = find_rule(id);
      list_.push_back(rule ? rule_json(*rule) : Json{{"id", id}});
    }
    return place->second;
  }
  Json list() { return std::move(list_); }

 private:
  std::map<std::string, size_t> places_;
  Json list_ = Json::array();
};

Json suppression(const Violation& violation) {
  const Suppressed& suppressed = *violation.suppressed;
  // A comment in the source names its file; a scope in the code is in the source too.
  const std::string& file = violation.location.file;
  const bool in_source =
      suppressed.origin == "capgate_allow" || (!file.empty() && suppressed.origin.starts_with(file));
  return Json::array({{{"kind", in_source ? "inSource" : "external"},
                       {"status", "accepted"},
                       {"justification", printable(suppressed.reason)}}});
}

Json properties(const Violation& violation) {
  Json evidence = Json::array();
  for (const Evidence kind : violation.evidence) evidence.push_back(name(kind));
  Json out = {{"phase", name(violation.phase)}, {"evidence", std::move(evidence)}};
  if (violation.api) out["api"] = printable(*violation.api);
  if (violation.result) out["result"] = printable(*violation.result);
  if (violation.symptom_of) out["symptomOf"] = printable(*violation.symptom_of);
  if (violation.capture) out["capture"] = printable(*violation.capture);
  if (violation.stream) out["stream"] = printable(*violation.stream);
  if (violation.blocked_us) out["blockedMicroseconds"] = *violation.blocked_us;
  for (const auto& [key, value] : violation.details) out["details"][printable(key)] = printable(value);
  return out;
}

// With the line's text, for readers that do not have the source.
Json place(const Violation& violation) {
  Json out = sarif_location(violation.location);
  const auto line = std::find_if(violation.source.begin(), violation.source.end(),
                                 [&](const SourceLine& one) { return one.line == violation.location.line; });
  if (line != violation.source.end() && out.contains("physicalLocation") &&
      out["physicalLocation"].contains("region"))
    out["physicalLocation"]["region"]["snippet"] = text(cut(line->text));
  return out;
}

Json result(const OpenFault& ranked, int ordinal, bool with_ways, RuleList& rules) {
  const Violation& violation = *ranked.fault;
  const std::string fix = violation.hint.empty() ? "" : ". Fix: " + violation.hint;
  const std::string rule = printable(violation.rule), id = printable(violation.id);
  Json out = {{"ruleId", rule},
              {"ruleIndex", rules.index_of(rule)},
              {"level", level(violation.severity)},
              {"message", text(message_of(ranked) + fix)},
              {"locations", Json::array({with_ways ? place(violation) : sarif_location(violation.location)})},
              // The first is what GitHub recognises a result by; both outlive moved lines.
              {"partialFingerprints",
               {{"primaryLocationLineHash", fmt::format("{}:{}", id, ordinal + 1)}, {"capgateId/v1", id}}}};
  if (violation.count > 0) out["occurrenceCount"] = std::min<uint64_t>(violation.count, INT32_MAX);
  if (with_ways && !violation.stacks.empty()) out["stacks"] = sarif_stacks(violation);
  if (with_ways && !violation.flow.empty()) out["codeFlows"] = sarif_flow(violation);
  if (auto related = sarif_related(violation); !related.empty()) out["relatedLocations"] = std::move(related);
  if (violation.suppressed) out["suppressions"] = suppression(violation);
  if (violation.baseline)
    out["baselineState"] = *violation.baseline == BaselineState::new_since ? "new" : "unchanged";
  out["properties"] = properties(violation);
  return out;
}

Json notification(std::string_view words, std::string_view severity) {
  return {{"level", severity}, {"message", text(words)}};
}

Json invocation(const Report& report) {
  // The tool did its work: what it judged is in the results.
  Json out = {{"executionSuccessful", true}};
  if (report.run && !report.run->argv.empty()) {
    std::string line;
    for (const auto& word : report.run->argv) line += (line.empty() ? "" : " ") + printable(word);
    out["commandLine"] = line;
  }
  if (report.run && report.run->exit_code) out["exitCode"] = *report.run->exit_code;
  Json notes = Json::array();
  for (const auto& reason : report.reasons)
    notes.push_back(notification(reason.text + ". To do: " + reason.remedy, "warning"));
  for (const auto& gap : report.coverage.not_checked)
    notes.push_back(notification("not checked: " + gap, "note"));
  if (report.violations.size() > kMostResults)
    notes.push_back(notification(
        fmt::format("{} more are in the report", counted(report.violations.size() - kMostResults, "finding")),
        "warning"));
  if (!notes.empty()) out["toolExecutionNotifications"] = std::move(notes);
  return out;
}

}  // namespace

std::string to_sarif(const Report& report) {
  RuleList rules;
  Json results = Json::array();
  std::map<std::string, int> seen;
  for (const OpenFault& one : all_faults(report)) {
    if (results.size() == kMostResults) break;
    results.push_back(result(one, seen[one.fault->id]++, results.size() < kShownResults, rules));
  }
  const Json run = {
      {"tool",
       {{"driver",
         {{"name", "capgate"}, {"version", printable(report.tool.version)}, {"rules", rules.list()}}}}},
      {"invocations", Json::array({invocation(report)})},
      {"results", std::move(results)},
      {"columnKind", "unicodeCodePoints"},
      {"properties", {{"verdict", name(report.verdict)}, {"program", printable(report.subject.program)}}}};
  const Json log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                    {"version", "2.1.0"},
                    {"runs", Json::array({run})}};
  return log.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace capgate::reports
