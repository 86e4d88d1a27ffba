#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "reports/formats/formats.h"
#include "reports/formats/parts.h"

namespace capgate::reports {
namespace {

using Json = nlohmann::ordered_json;

std::string_view severity(Severity of) {
  if (of == Severity::error) return "critical";
  return of == Severity::warning ? "major" : "info";
}

}  // namespace

std::string to_gitlab(const Report& report) {
  Json list = Json::array();
  std::map<std::string, int> seen;  // GitLab drops the second of two equal fingerprints
  for (const auto& open : formats::open_faults(report)) {
    const Violation* fault = open.fault;
    const std::string id = printable(fault->id);
    const int ordinal = seen[fault->id]++;
    const Location& at = fault->location;
    // GitLab refuses an entry without a path.
    const std::string path = at.file.empty() ? "no-source" : formats::path_of(at.file);
    list.push_back({{"description", printable(formats::message_of(open))},
                    {"check_name", printable(fault->rule)},
                    {"fingerprint", ordinal ? id + "-" + std::to_string(ordinal) : id},
                    {"severity", severity(fault->severity)},
                    {"location", {{"path", printable(path)}, {"lines", {{"begin", std::max(1, at.line)}}}}}});
  }
  return list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace capgate::reports
