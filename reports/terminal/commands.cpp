#include "reports/terminal/commands.h"

#include "base/shell_line.h"
#include "reports/terminal/text.h"

namespace capgate::reports::terminal {
namespace {

// Standard input is read once: what to read instead is not known.
std::string report_word(const std::string& name) {
  return name.empty() || name == "-" ? "REPORT" : clean(name);
}

std::string on_report(const char* command, const std::string& baseline, const std::string& report,
                      const std::vector<std::string>& options) {
  std::vector<std::string> words{"capgate", command};
  if (!baseline.empty()) words.insert(words.end(), {"--baseline", clean(baseline)});
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(report_word(report));
  return shell_line(words);
}

}  // namespace

std::string show_command(const std::string& baseline, const std::string& report,
                         const std::vector<std::string>& options) {
  return on_report("show", baseline, report, options);
}

std::string view_command(const std::string& baseline, const std::string& report) {
  return on_report("view", baseline, report, {});
}

std::string gate_command(const GateOptions& gate, const std::vector<std::string>& options) {
  std::vector<std::string> all;
  if (gate.fail_on == Severity::warning) all.insert(all.end(), {"--fail-on", "warning"});
  if (gate.allow_eager) all.emplace_back("--allow-eager");
  if (gate.require_replay) all.insert(all.end(), {"--require", "replay"});
  for (const std::string& bucket : gate.buckets) all.insert(all.end(), {"--bucket", clean(bucket)});
  if (gate.ratchet) all.insert(all.end(), {"--no-worse-than", clean(gate.ratchet->file)});
  all.insert(all.end(), options.begin(), options.end());
  return on_report("gate", gate.baseline_name, gate.report_name, all);
}

}  // namespace capgate::reports::terminal
