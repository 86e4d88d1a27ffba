// The report for people at a terminal: the verdict first, the worst fault second, what was looked at third,
// then each fault once.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/catalogue/catalogue.h"
#include "reports/catalogue/situations.h"
#include "reports/model/report.h"
#include "reports/settings/settings.h"

namespace capgate::reports {

// Which faults `show` lists. Without any of it: all.
struct Selection {
  std::vector<std::string> rules, files;   // ids of rules; globs of paths
  std::optional<Severity> least_severity;  // this one, or graver
  bool empty() const { return rules.empty() && files.empty() && !least_severity; }
  bool takes(const Violation& violation) const;
};

struct TerminalOptions {
  bool color = false;
  int width = 100;       // columns; headings are never broken, so that they can be searched for
  bool all = false;      // notes and suppressed faults in full, stacks unfolded, no list cut short
  FrameSettings frames;  // whose frames are folded
  std::string report_name = "REPORT";  // for the commands that it names
  std::string baseline_name;           // that the violations were compared with, if any
  Selection selection;
};

// The width of the terminal behind `fd`; 100 when it is none.
int terminal_width(int fd);

// Ends with a newline. Control characters in the report's texts are shown as '?'.
std::string render_terminal(const Report& report, const TerminalOptions& options);

// The same, a piece at a time: all of a report's faults together may be larger than the report.
void render_terminal(const Report& report, const TerminalOptions& options,
                     const std::function<void(std::string_view)>& print);

// What decides what to do next, on one screen; the beginning of render_terminal.
std::string render_first_screen(const Report& report, const TerminalOptions& options);

// The first lines alone, three at most: what audit and lint print when the whole report is not wanted.
std::string render_headline(const Report& report, const TerminalOptions& options);

// What `capgate explain` prints: a rule's page with its situations, one situation, the row of a call that a
// capture refuses.
std::string render_rule(const Rule& rule, const TerminalOptions& options);
std::string render_situation(const Situation& situation, const TerminalOptions& options);
std::string render_replacement(const Replacement& row, const TerminalOptions& options);

// A line a rule: id, the fault in a few words, severities, who sees it.
std::string render_rule_list(const TerminalOptions& options);

}  // namespace capgate::reports
