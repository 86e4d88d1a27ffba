#include "reports/viewer/page_claims.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/terminal/parts.h"
#include "reports/verdict/claims.h"
#include "reports/verdict/failure.h"
#include "reports/verdict/verified.h"
#include "reports/verdict/watched.h"

namespace capgate::reports {
namespace {

using Json = nlohmann::ordered_json;

std::string headline(const Report& report) {
  if (report.verdict == Verdict::fail) {
    const auto failure = failure_of(report);
    return failure ? failure_text(*failure, terminal::place(failure->at->location))
                   : "the step cannot be replayed as it is";
  }
  if (report.verdict == Verdict::inconclusive)
    return report.reasons.empty() ? "nothing is proved" : report.reasons.front().text;
  const Claim claim = what_was_proved(report);
  if (claim.scope.empty()) return report.compared ? "no new error" : "no error";
  return claim.scope + ": " + claim.text;
}

// The finding that the headline speaks of; without a failure the first that is open.
std::string first_finding(const Report& report) {
  if (const auto failure = failure_of(report)) return failure->at->id;
  const auto open =
      std::find_if(report.violations.begin(), report.violations.end(), [](const Violation& violation) {
        return !violation.suppressed && violation.severity != Severity::note;
      });
  return open == report.violations.end() ? "" : open->id;
}

Json left_open(const Report& report) {
  Json list = Json::array();
  for (const auto& reason : report.reasons)
    list.push_back({{"text", reason.text}, {"remedy", reason.remedy}});
  const NotProved first = what_was_not_proved(report);
  list.push_back({{"text", first.text}, {"remedy", first.command}});
  for (const auto& entry : report.coverage.not_checked) list.push_back({{"text", entry}, {"remedy", ""}});
  return list;
}

}  // namespace

Json page_claims(const Report& report) {
  Json proved = Json::array();
  if (report.verdict == Verdict::pass)
    if (const Claim claim = what_was_proved(report); !claim.scope.empty())
      proved.push_back(claim.scope + ": " + claim.text);
  if (const std::string watched = what_was_watched(report); !watched.empty())
    proved.push_back("watched: " + watched);
  if (const std::string verified = what_was_verified(report); !verified.empty())
    proved.push_back("verified: " + verified);
  return {{"headline", headline(report)},
          {"first", first_finding(report)},
          {"proved", std::move(proved)},
          {"not_proved", left_open(report)}};
}

}  // namespace capgate::reports
