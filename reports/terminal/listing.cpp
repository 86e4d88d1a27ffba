// Faults a line each, and which of them somebody asked for.
#include <fmt/format.h>

#include <algorithm>

#include "reports/identity/fingerprint.h"
#include "reports/settings/glob.h"
#include "reports/terminal/commands.h"
#include "reports/terminal/parts.h"

namespace capgate::reports {

bool Selection::takes(const Violation& violation) const {
  const auto any = [](const std::vector<std::string>& words, const auto& fits) {
    return words.empty() || std::any_of(words.begin(), words.end(), fits);
  };
  return (!least_severity || violation.severity <= *least_severity) &&
         any(rules, [&](const std::string& rule) { return rule == violation.rule; }) &&
         any(files, [&](const std::string& glob) {
           return path_glob_match(glob, violation.location.file) ||
                  path_glob_match(glob, path_key(violation.location.file));
         });
}

namespace terminal {

std::string listed_fault(const Report& report, const Violation& violation, const Causes& causes,
                         const TerminalOptions& options) {
  std::string line = heading(report, violation, Paint(options.color));
  line.pop_back();  // the end of the line
  if (const auto& symptoms = causes.symptoms_of(violation); !symptoms.empty())
    line += ", with " + counted(symptoms.size(), "symptom");
  return (violation.suppressed ? "allowed " : "") + line + "\n";
}

std::string how_to_see_more(const TerminalOptions& options) {
  const auto show = [&](const std::vector<std::string>& words) {
    return show_command(options.baseline_name, options.report_name, words);
  };
  return wrap(fmt::format("in full: `{}`; a part: `{}`, or `--file GLOB`, `--severity SEVERITY`",
                          show({"--all"}), show({"--rule", "RULE"})),
              0, options.width);
}

}  // namespace terminal
}  // namespace capgate::reports
