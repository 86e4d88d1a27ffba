#include "detector/analysis/mismatch_explanations.h"

#include <algorithm>

namespace capgate::analysis {
namespace {

using reports::Severity;

constexpr std::string_view kRule = "replay-mismatch";

bool share_a_graph(const Findings::Entry& a, const Findings::Entry& b) {
  return std::any_of(a.captures.begin(), a.captures.end(),
                     [&](const auto& capture) { return b.captures.contains(capture.first); });
}

// What only a first pass shows is a note, and a scope in the program may allow all of it.
bool stands(const Findings::Entry& entry) {
  return entry.later > 0 && entry.unallowed > 0 && entry.violation.rule != kRule;
}

std::string place_of(const reports::Violation& violation) {
  const auto& at = violation.location;
  return violation.rule + (at.file.empty() ? "" : " at " + at.file + ":" + std::to_string(at.line));
}

}  // namespace

void explain_mismatches(const std::vector<Findings::Entry*>& entries,
                        const std::map<const Findings::Entry*, std::string>& names) {
  for (Findings::Entry* mismatch : entries) {
    if (mismatch->violation.rule != kRule) continue;
    std::vector<Findings::Entry*> errors;
    std::string explained;
    for (Findings::Entry* entry : entries) {
      const Severity severity = entry->violation.severity;
      if (severity == Severity::note || !stands(*entry) || !share_a_graph(*mismatch, *entry)) continue;
      explained += (explained.empty() ? "" : "; ") + place_of(entry->violation);
      if (severity == Severity::error)
        errors.push_back(entry);
      else if (!entry->violation.symptom_of && entry->causes.empty())
        entry->violation.symptom_of = names.at(mismatch);
    }
    if (!explained.empty()) mismatch->violation.details["explained by"] = explained;
    if (errors.size() == 1) mismatch->violation.symptom_of = names.at(errors.front());
  }
}

}  // namespace capgate::analysis
