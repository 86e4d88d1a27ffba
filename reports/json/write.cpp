#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/json/json.h"
#include "reports/json/print.h"
#include "reports/model/report_fields.h"

namespace capgate::reports {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json json_of(const T& value);
template <class T>
Json json_of(const std::optional<T>& value);
template <class T>
Json json_of(const std::vector<T>& list);
template <class T>
Json json_of(const std::map<std::string, T>& values);

Json json_of(const std::pair<uint64_t, uint64_t>& pair) {
  return Json::array({pair.first, pair.second});
}

Json json_of(double value) {
  return std::isfinite(value) ? value : 0.0;
}

template <class T>
Json json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : Json(nullptr);
}

template <class T>
Json json_of(const std::vector<T>& list) {
  Json out = Json::array();
  for (const T& item : list) out.push_back(json_of(item));
  return out;
}

template <class T>
Json json_of(const std::map<std::string, T>& values) {
  Json out = Json::object();
  for (const auto& [key, value] : values) out[key] = json_of(value);
  return out;
}

template <class T>
bool is_empty(const T& value) {
  if constexpr (std::is_arithmetic_v<T>)
    return value == T{};
  else if constexpr (requires { value.has_value(); })
    return !value.has_value();
  else if constexpr (requires { value.empty(); })
    return value.empty();
  else
    return false;
}

template <class T, class Member>
void add(Json& out, const T& from, const Field<T, Member>& field) {
  const Member& value = from.*field.member;
  if (field.presence == Presence::if_any && is_empty(value)) return;
  out[std::string(field.key)] = json_of(value);
}

template <class T>
void add(Json& out, const T& from, const OtherTexts<T>& others) {
  for (const auto& [key, value] : from.*others.member)
    if (!out.contains(key)) out[key] = value;
}

template <class T>
Json json_of(const T& value) {
  if constexpr (Described<T>) {
    Json out = Json::object();
    for_each_field<T>([&](const auto& entry) { add(out, value, entry); });
    return out;
  } else if constexpr (Worded<T>) {
    return name(value);
  } else {
    return value;
  }
}

}  // namespace

std::string to_json(const Report& report) {
  return print_json(json_of(report));
}

}  // namespace capgate::reports
