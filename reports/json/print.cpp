#include "reports/json/print.h"

#include <nlohmann/json.hpp>

namespace capgate::reports {
namespace {

using Json = nlohmann::ordered_json;
constexpr long kWidth = 110;

std::string compact(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// What is left of `budget` after the value's least length; below zero it does not fit.
long left_after(const Json& value, long budget) {
  if (value.is_string()) return budget - static_cast<long>(value.get_ref<const std::string&>().size()) - 2;
  if (!value.is_structured()) return budget - 1;
  budget -= 2;
  for (auto it = value.begin(); it != value.end() && budget >= 0; ++it) {
    if (value.is_object()) budget -= static_cast<long>(it.key().size()) + 3;
    budget = left_after(*it, budget - 1);
  }
  return budget;
}

void print(const Json& value, size_t indent, std::string& out) {
  const long room = kWidth - static_cast<long>(indent);
  if (!value.is_structured() || value.empty() || left_after(value, room) >= 0) {
    const std::string line = compact(value);
    if (!value.is_structured() || value.empty() || static_cast<long>(line.size()) <= room) {
      out += line;
      return;
    }
  }
  const bool object = value.is_object();
  out += object ? "{\n" : "[\n";
  bool first = true;
  for (auto it = value.begin(); it != value.end(); ++it) {
    if (!first) out += ",\n";
    first = false;
    out.append(indent + 1, ' ');
    if (object) out += compact(Json(it.key())) + ": ";
    print(*it, indent + 1, out);
  }
  out += '\n';
  out.append(indent, ' ');
  out += object ? '}' : ']';
}

}  // namespace

std::string print_json(const Json& value) {
  std::string out;
  print(value, 0, out);
  out += '\n';
  return out;
}

}  // namespace capgate::reports
