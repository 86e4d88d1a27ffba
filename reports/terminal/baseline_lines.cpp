// What `capgate gate --baseline` says of the baseline itself.
#include <fmt/format.h>

#include "reports/terminal/commands.h"
#include "reports/terminal/parts.h"

namespace capgate::reports {
namespace terminal {

std::string baseline_lines(const BaselineComparison& comparison, const GateOptions& gate) {
  const std::string file = clean(gate.baseline_name);
  std::string out;
  if (!gate.ended.empty()) {
    out += fmt::format("ended in {}, so no longer known; to extend: {}\n", file,
                       gate_command(gate, {"--update-baseline", "--add-nothing", "--until", "DATE"}));
    out += some(gate.ended, [&](const BaselineEntry& entry) {
      return fmt::format("  {} {} ({}:{}, until {}{})\n", head_of(clean(entry.rule)),
                         place({entry.file, 0, std::nullopt, entry.function}), file, entry.line, entry.until,
                         entry.owner.empty() ? ", nobody's" : ", owner " + head_of(clean(entry.owner)));
    });
  }
  if (!comparison.stale.empty()) {
    out += gate.baseline_is_report ? fmt::format("gone since {}, make the baseline again:\n", file)
                                   : fmt::format("gone since {}; drop them: {}\n", file,
                                                 gate_command(gate, {"--update-baseline", "--add-nothing"}));
    out += some(comparison.stale, [](const Violation& violation) {
      return fmt::format("  {} {}\n", head_of(clean(violation.rule)), place(violation.location));
    });
  }
  return out;
}

}  // namespace terminal

std::string update_line(const std::string& file, const BaselineUpdate& update) {
  std::string out = fmt::format(
      "{}: {} kept{}, {} added, {} dropped\n", terminal::clean(file), counted(update.kept, "fault"),
      update.extended ? fmt::format(" ({} extended)", update.extended) : "", update.added, update.dropped);
  if (update.left_out)
    out += fmt::format("  {} of the report {} not in it; without --add-nothing the update accepts {}\n",
                       counted(update.left_out, "fault"), update.left_out == 1 ? "is" : "are",
                       update.left_out == 1 ? "it" : "them");
  if (update.unseen)
    out += fmt::format("  {} stayed, though the report does not show them: it is incomplete\n",
                       counted(update.unseen, "entry", "entries"));
  return out;
}

}  // namespace capgate::reports
