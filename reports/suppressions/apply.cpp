#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reports/catalogue/catalogue.h"
#include "reports/identity/fingerprint.h"
#include "reports/identity/function_key.h"
#include "reports/settings/glob.h"
#include "reports/suppressions/suppressions.h"
#include "reports/suppressions/unproven.h"

namespace capgate::reports {
namespace {

constexpr const char* kUnused = "unused-suppression";
constexpr const char* kOrigin = "suppression";

bool frame_matches(std::string_view glob, std::string_view function, std::string_view file,
                   std::string_view module) {
  return glob_match(glob, function) || glob_match(glob, function_key(function)) ||
         path_glob_match(glob, file) || (!module.empty() && path_glob_match(glob, module));
}

bool matches(const FileSuppression& entry, const Violation& violation) {
  if (entry.rule != "*" && entry.rule != violation.rule) return false;
  if (frame_matches(entry.glob, violation.location.function, violation.location.file, "")) return true;
  for (const auto& stack : violation.stacks)
    for (const auto& frame : stack.frames)
      if (frame_matches(entry.glob, frame.function, frame.file, frame.module)) return true;
  return false;
}

bool allows(const AllowComment& comment, const Violation& violation) {
  if (comment.reason.empty() || (comment.rule != violation.rule && comment.rule != "*")) return false;
  const auto stands_at = [&](std::string_view file, int line) {
    return path_key(file) == path_key(comment.file) && (line == comment.line || line == comment.line + 1);
  };
  return stands_at(violation.location.file, violation.location.line);
}

Violation note(const Report& report, std::string message, std::string origin, const char* what) {
  Violation violation;
  violation.rule = kUnused;
  violation.severity = Severity::note;
  violation.message = std::move(message);
  violation.evidence = {report.coverage.kind == CoverageKind::source ||
                                report.tool.component == Component::static_checks
                            ? Evidence::sources
                            : Evidence::runtime};
  violation.phase = Phase::source;
  violation.details["suppression"] = what;
  violation.details["callee"] = violation.details[kOrigin] = std::move(origin);
  return violation;
}

bool seen_by_producer(const Report& report, std::string_view rule_id) {
  const Rule* rule = find_rule(rule_id);
  if (!rule) return true;
  std::string_view who = "runtime";
  if (report.tool.component == Component::static_checks) who = "static";
  if (report.tool.component == Component::engine) who = "engine";
  return std::find(rule->seen_by.begin(), rule->seen_by.end(), who) != rule->seen_by.end();
}

}  // namespace

void apply_suppressions(Report& report, const Suppressions& suppressions, bool whole_source) {
  std::vector<bool> entry_used(suppressions.entries.size()), comment_used(suppressions.comments.size());
  for (auto& violation : report.violations) {
    if (violation.rule == kUnused) continue;
    for (size_t i = 0; i < suppressions.comments.size(); ++i) {
      const auto& comment = suppressions.comments[i];
      if (!allows(comment, violation)) continue;
      comment_used[i] = true;
      if (!violation.suppressed)
        violation.suppressed = Suppressed{comment.reason, fmt::format("{}:{}", comment.file, comment.line)};
    }
    for (size_t i = 0; i < suppressions.entries.size(); ++i) {
      const auto& entry = suppressions.entries[i];
      if (!matches(entry, violation)) continue;
      entry_used[i] = true;
      if (!violation.suppressed) violation.suppressed = Suppressed{entry.reason, entry.origin};
    }
  }

  for (size_t i = 0; i < suppressions.entries.size(); ++i) {
    const auto& entry = suppressions.entries[i];
    if (entry_used[i] || entry.rule == kUnproven || !seen_by_producer(report, entry.rule)) continue;
    auto unused = note(report, fmt::format("{}:{} suppressed nothing", entry.rule, entry.glob), entry.origin,
                       "unmatched");
    const size_t colon = entry.origin.rfind(':');
    unused.location.file = entry.origin.substr(0, colon);
    if (colon != std::string::npos) unused.location.line = std::atoi(entry.origin.c_str() + colon + 1);
    report.violations.push_back(std::move(unused));
  }
  for (size_t i = 0; i < suppressions.comments.size(); ++i) {
    const auto& comment = suppressions.comments[i];
    std::string message;
    const char* what = "unmatched";
    if (comment.rule != "*" && !find_rule(comment.rule)) {
      message = unknown_rule(comment.rule) + " This comment allows nothing";
      what = "unknown rule";
    } else if (comment.reason.empty()) {
      message = fmt::format("capgate-allow({}) has no reason, so it allows nothing", comment.rule);
      what = "no reason";
    } else if (!comment_used[i] && whole_source && seen_by_producer(report, comment.rule)) {
      message = fmt::format("capgate-allow({}) allows nothing here", comment.rule);
    }
    if (message.empty()) continue;
    auto unused = note(report, message, fmt::format("{}:{}", comment.file, comment.line), what);
    unused.location.file = comment.file;
    unused.location.line = comment.line;
    report.violations.push_back(std::move(unused));
  }
}

void drop_notes_on_used(Report& report) {
  std::set<std::string> used;
  for (const auto& violation : report.violations)
    if (violation.suppressed) used.insert(violation.suppressed->origin);
  std::erase_if(report.violations, [&](const Violation& violation) {
    const auto origin = violation.details.find(kOrigin);
    return violation.rule == kUnused && origin != violation.details.end() && used.contains(origin->second);
  });
}

}  // namespace capgate::reports
