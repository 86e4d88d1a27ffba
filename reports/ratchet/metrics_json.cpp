#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json/strict_json.h"
#include "reports/json/json.h"
#include "reports/ratchet/metrics.h"
#include "reports/verdict/contradiction.h"

namespace capgate::reports {
namespace {

using Json = nlohmann::ordered_json;

// The largest number up to which a double holds every whole one.
constexpr double kLargestWhole = 9007199254740992.0;

Json number(double value) {
  if (!std::isfinite(value)) return 0;
  if (value >= 0 && value <= kLargestWhole && value == std::floor(value)) return static_cast<uint64_t>(value);
  return value;
}

// One level of keys and values: what lies deeper is not kept.
struct Flat {
  Json object;
  std::string refused;  // why it is not read
  std::string nested;   // a key whose value is a list or an object
};

Flat parse_flat(std::string_view text) {
  Flat out;
  std::string key;
  using Event = StrictJson::Event;
  const auto keep = [&](int depth, Event event, const Json& value) {
    if (event == Event::key && depth == 1) key = value.get<std::string>();
    const bool opens = event == Event::object_start || event == Event::array_start;
    if (opens && depth == 1 && out.nested.empty()) out.nested = key;
    return !opens || depth == 0;
  };
  try {
    out.object = StrictJson::parse<Json>(text, {}, keep);
  } catch (const JsonRefused& refused) {
    out.refused = refused.why;
  } catch (const Json::exception&) {
    out.object = Json(Json::value_t::discarded);
  }
  return out;
}

std::string schema_in(const Json& object) {
  if (!object.is_object()) return "";
  const auto schema = object.find("schema");
  return schema != object.end() && schema->is_string() ? schema->get<std::string>() : "";
}

Result<Metrics> read_flat(const Flat& flat, const std::string& source) {
  const auto bad = [&](const std::string& key, const char* what) {
    return Error{source + ": the key \"" + key.substr(0, 60) + "\" " + what};
  };
  if (!flat.nested.empty()) return bad(flat.nested, "is not a number");
  Metrics out;
  for (auto it = flat.object.begin(); it != flat.object.end(); ++it) {
    if (it.key() == "schema") continue;
    if (it.key() == "program") {
      if (!it->is_string()) return bad(it.key(), "is not a text");
      out.program = it->get<std::string>();
      continue;
    }
    if (!it->is_number()) return bad(it.key(), "is not a number");
    const auto value = it->get<double>();
    if (!std::isfinite(value)) return bad(it.key(), "is out of range");
    if (value < 0) return bad(it.key(), "is negative");
    out.values[it.key()] = value;
  }
  return out;
}

}  // namespace

std::string to_json(const Metrics& metrics) {
  Json json;
  json["schema"] = kMetricsSchema;
  json["program"] = metrics.program;
  for (const auto& [name, value] : metrics.values) json[name] = number(value);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

bool is_metrics(std::string_view text) {
  return schema_in(parse_flat(text).object).starts_with("capgate-metrics/");
}

Result<Metrics> metrics_from(std::string_view text, std::string_view source_name) {
  const std::string source(source_name);
  const Flat flat = parse_flat(text);
  if (!flat.refused.empty()) return Error{source + ": " + flat.refused};
  const std::string schema = schema_in(flat.object);
  if (schema == kMetricsSchema) return read_flat(flat, source);
  if (schema.starts_with("capgate-metrics/"))
    return Error{source + ": is of schema \"" + schema.substr(0, 60) + "\"; this capgate reads " +
                 kMetricsSchema};
  if (!schema.starts_with("capgate-report/"))
    return Error{source + ": is neither what `capgate gate --metrics` wrote nor a report"};
  const auto report = from_json(text, source);
  if (!report) return Error{report.error()};
  if (const auto against = contradiction(*report)) return Error{source + ": " + *against};
  return metrics_of(*report);
}

}  // namespace capgate::reports
