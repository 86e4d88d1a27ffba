#include "reports/catalogue/catalogue_json.h"

#include <nlohmann/json.hpp>

#include "reports/catalogue/catalogue.h"
#include "reports/model/json_print.h"

namespace capgate::reports {
namespace {

std::string_view if_captured(const Rule& rule) {
  if (rule.if_captured == IfCaptured::dies) return "dies";
  return rule.if_captured == IfCaptured::wrong ? "wrong" : "neither";
}

}  // namespace

std::string catalogue_json() {
  auto list = nlohmann::ordered_json::array();
  for (const Rule& rule : rules())
    list.push_back({{"id", rule.id},
                    {"title", rule.title},
                    {"fault", rule.fault},
                    {"why", rule.why},
                    {"in_region", rule.in_region},
                    {"a_step", rule.a_step},
                    {"hint", rule.hint},
                    {"fix", rule.fix},
                    {"language", rule.language},
                    {"bad", rule.bad},
                    {"good", rule.good},
                    {"seen_by", std::vector<std::string>(rule.seen_by.begin(), rule.seen_by.end())},
                    {"related", std::vector<std::string>(rule.related.begin(), rule.related.end())},
                    {"if_captured", if_captured(rule)},
                    {"graph", rule.graph}});
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  out["rules"] = std::move(list);
  return print_json(out);
}

}  // namespace capgate::reports
