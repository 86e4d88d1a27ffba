#include "reports/catalogue/catalogue_json.h"

#include <nlohmann/json.hpp>

#include "reports/catalogue/catalogue.h"
#include "reports/catalogue/situations.h"
#include "reports/json/print.h"

namespace capgate::reports {
namespace {

std::string_view if_captured(const Rule& rule) {
  if (rule.if_captured == IfCaptured::dies) return "dies";
  return rule.if_captured == IfCaptured::wrong ? "wrong" : "neither";
}

using Json = nlohmann::ordered_json;

Json strings(std::span<const std::string_view> items) {
  return std::vector<std::string>(items.begin(), items.end());
}

void add(Json& out, const char* key, std::string_view text) {
  if (!text.empty()) out[key] = text;
}

Json of(const Rule& rule) {
  Json out = {{"id", rule.id}, {"title", rule.title}};
  add(out, "status", rule.status);
  out.update({{"fault", rule.fault},
              {"why", rule.why},
              {"in_region", rule.in_region},
              {"a_step", rule.a_step},
              {"hint", rule.hint},
              {"fix", rule.fix},
              {"language", rule.language},
              {"bad", rule.bad},
              {"good", rule.good},
              {"seen_by", strings(rule.seen_by)},
              {"related", strings(rule.related)},
              {"if_captured", if_captured(rule)},
              {"graph", rule.graph}});
  return out;
}

Json of(const Situation& situation) {
  Json out = {{"id", situation.id},
              {"rule", situation.rule},
              {"title", situation.title},
              {"why", situation.why},
              {"fix", situation.fix}};
  add(out, "python_fix", situation.python_fix);
  add(out, "cpp", situation.cpp);
  add(out, "python", situation.python);
  return out;
}

Json of(const Replacement& row) {
  return {{"apis", strings(row.apis)}, {"instead", row.instead}};
}

template <class Item>
Json array(std::span<const Item> items) {
  Json out = Json::array();
  for (const Item& item : items) out.push_back(of(item));
  return out;
}

}  // namespace

std::string catalogue_json() {
  Json out = Json::object();
  out["rules"] = array(rules());
  out["situations"] = array(situations());
  out["replacements"] = array(replacements());
  return print_json(out);
}

}  // namespace capgate::reports
