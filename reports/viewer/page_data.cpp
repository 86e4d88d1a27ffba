#include "reports/viewer/page_data.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "base/counted.h"
#include "base/printable.h"
#include "reports/baseline/compare.h"
#include "reports/catalogue/catalogue.h"
#include "reports/catalogue/catalogue_json.h"
#include "reports/catalogue/situations.h"
#include "reports/json/json.h"
#include "reports/model/names.h"
#include "reports/settings/frames.h"
#include "reports/viewer/page_claims.h"

namespace capgate::reports {
namespace {

using Json = nlohmann::ordered_json;

// More of a text says nothing to anybody, and a name of a megabyte would be in every row.
constexpr size_t kLongestText = 4000;

std::string shortened(std::string text) {
  if (text.size() <= kLongestText) return text;
  size_t end = kLongestText;
  while ((static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;  // not inside a character
  const size_t left = text.size() - end;
  text.resize(end);
  return text + fmt::format("… ({} more)", counted(left, "byte"));
}

std::string shown(const std::string& text) {
  return shortened(printable(text));
}

// Every text of a report, keys included, as it may be shown.
void clean(Json& value) {
  if (value.is_string()) {
    value = shown(value.get_ref<const std::string&>());
  } else if (value.is_array()) {
    for (auto& item : value) clean(item);
  } else if (value.is_object()) {
    Json cleaned = Json::object();
    for (auto& [key, member] : value.items()) {
      clean(member);
      cleaned[shown(key)] = std::move(member);
    }
    value = std::move(cleaned);
  }
}

// Ten thousand findings share a few hundred frames: each is written once.
class FrameTable {
 public:
  explicit FrameTable(const FrameSettings& settings) : settings_(settings) {}

  // Replaces the frames in the violations' stacks by their numbers.
  void take(Json& violations) {
    for (auto& violation : violations)
      for (auto& stack : violation["stacks"])
        for (auto& frame : stack["frames"]) frame = number_of(frame);
  }

  Json list() { return std::move(list_); }

 private:
  size_t number_of(const Json& frame) {
    const auto [place, is_new] = numbers_.try_emplace(frame.dump(), list_.size());
    if (is_new) {
      const auto language = named<FrameLanguage>(frame["language"].get_ref<const std::string&>());
      const Frame parts{language.value_or(FrameLanguage::native),
                        frame["file"],
                        frame["line"],
                        frame["function"],
                        frame["module"],
                        frame["inlined"]};
      list_.push_back(frame);
      list_.back()["library"] = !is_user_frame(parts, settings_);
    }
    return place->second;
  }

  const FrameSettings& settings_;
  std::unordered_map<std::string, size_t> numbers_;
  Json list_ = Json::array();
};

// The pages of the rules that the report names.
Json rules_of(const Report& report) {
  std::set<std::string_view> named;
  for (const auto& violation : report.violations) named.insert(violation.rule);
  Json out = Json::array();
  const Json catalogue = Json::parse(catalogue_json());
  for (const auto& rule : catalogue["rules"])
    if (named.contains(rule["id"].get_ref<const std::string&>())) out.push_back(rule);
  return out;
}

// A report of an older version names no situations, and has an older table's fixes.
void name_situations(Report& report) {
  for (auto& violation : report.violations) {
    const Situation& situation = situation_named(violation);
    violation.hint = std::string(fix_given(situation, violation));
    violation.situation = situation.id;
  }
}

// Those that the report names.
Json situations_of(const Report& report) {
  std::set<std::string_view> named;
  for (const auto& violation : report.violations) named.insert(violation.situation);
  Json out = Json::array();
  for (const Situation& one : situations())
    if (named.contains(one.id))
      out.push_back({{"id", one.id},
                     {"title", one.title},
                     {"why", one.why},
                     {"fix", one.fix},
                     {"python_fix", one.python_fix},
                     {"cpp", one.cpp},
                     {"python", one.python},
                     {"python_is_for_torch", is_for_torch(one.python)}});
  return out;
}

Json report_json(const Report& report) {
  Json json = Json::parse(to_json(report));
  clean(json);
  return json;
}

Json fixed_since(const std::vector<const Violation*>& stale) {
  Report fixed;
  for (const auto* violation : stale) fixed.violations.push_back(*violation);
  return report_json(fixed)["violations"];
}

}  // namespace

std::string page_data(PageInput input) {
  FrameTable frames(input.frames);
  Json baseline = nullptr;
  if (input.baseline) {
    const auto comparison = compare_with_baseline(input.report, *input.baseline, input.baseline_file);
    baseline = {{"file", shown(input.baseline_file)}, {"fixed", fixed_since(comparison.stale)}};
    frames.take(baseline["fixed"]);
  }
  name_situations(input.report);
  Json claims = page_claims(input.report);
  clean(claims);
  Json report = report_json(input.report);
  frames.take(report["violations"]);
  const Json data = {{"page", "capgate-page/1"},        {"file", shown(input.file)},
                     {"report", std::move(report)},     {"frames", frames.list()},
                     {"rules", rules_of(input.report)}, {"situations", situations_of(input.report)},
                     {"claims", std::move(claims)},     {"baseline", std::move(baseline)}};
  return data.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace capgate::reports
