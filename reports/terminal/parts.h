// The parts of the terminal view.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reports/model/report.h"
#include "reports/terminal/gate_lines.h"
#include "reports/terminal/terminal.h"
#include "reports/terminal/text.h"
#include "reports/verdict/causes.h"

namespace capgate::reports::terminal {

// "model/moe.py:212 route()"
std::string place(const Location& location);

// "host-sync model/moe.py:212 route() - killed capture "decode bs=8"", behind its severity.
std::string heading(const Report& report, const Violation& violation, const Paint& paint);

// What came of it: `killed capture "decode bs=8"`.
std::string consequence(const Report& report, const Violation& violation);

// The message below that heading, without the consequence that the heading has.
std::string message_below_heading(const Report& report, const Violation& violation);

// A detail that is a number; empty where there is none.
std::optional<uint64_t> number_in(const Violation& violation, const std::string& key);

const Capture* capture_of(const Report& report, const Violation& violation);

// The first ten, a line each, then how many more.
template <class List, class Line>
std::string some(const List& list, Line line) {
  constexpr size_t kShown = 10;
  std::string out;
  for (size_t i = 0; i < std::min(list.size(), kShown); ++i) out += line(*list[i]);
  if (list.size() > kShown) out += "  … and " + std::to_string(list.size() - kShown) + " more\n";
  return out;
}

// A label in its column, and text that is wrapped behind it.
std::string labelled(std::string_view label, std::string_view text, const TerminalOptions& options);

// The line with `around` lines before and after it, as far as the report quotes them.
std::string source_lines(const Violation& violation, const Paint& paint, int around);

// The fix, with its example.
std::string fix(const Violation& violation, const TerminalOptions& options);

// "8 per step"; empty where no step was counted.
std::string per_step(const Violation& violation);

// "8 per step (3 steps; left out: 1 warm-up), host blocked 51 us per step", or why there is no such number.
// What its symptoms cost besides is added.
std::string cost(const Report& report, const Causes& causes, const Violation& violation);

// The stacks of faults, library frames folded. What repeats further out is printed with the first of them.
class StacksPrinted {
 public:
  std::string print(const Violation& violation, const TerminalOptions& options);

 private:
  static constexpr size_t kRemembered = 16;  // a reader does not look further back either
  std::vector<std::pair<const Violation*, const Stack*>> printed_;
};

// "torch.nn.functional.grouped_mm -> at::native::_grouped_mm_fallback -> cudaStreamSynchronize": how a
// framework came to the call; empty where the line made it itself.
std::string way_to_the_call(const Violation& violation);

// What was printed further up.
struct Printed {
  std::set<std::string> explained;   // situations whose reason was given
  const Violation* first = nullptr;  // its source and fix are on the first screen
  StacksPrinted stacks;
};

// One fault with its source, stack, symptoms and fix.
std::string fault(const Report& report, const Violation& violation, const Causes& causes,
                  const TerminalOptions& options, Printed& printed);

// A note or a suppressed fault in two lines.
std::string short_fault(const Report& report, const Violation& violation, const TerminalOptions& options);

// What a report has more of than this is listed a line each, unless all of it is wanted.
constexpr size_t kMostInFull = 10;

// A fault in one line.
std::string listed_fault(const Report& report, const Violation& violation, const Causes& causes,
                         const TerminalOptions& options);

// How to see in full what was listed a line each.
std::string how_to_see_more(const TerminalOptions& options);

// "decode (build 3f2a91c04b77, mode full, 3 buckets, 1 x sm_90)"
std::string subject(const Report& report);

// What was looked at, in a few lines: the program, its captures, marked steps, files and regions.
std::string covers(const Report& report, bool all);

// The catalogue's code, which is not wrapped.
std::string code_block(std::string_view code, size_t indent = 4);

// "against main.json: 1 error new; 2 errors, 1 warning known; nothing fixed"; empty without a baseline.
std::string compared_text(const Report& report);

// The verdict and, unless a fault says it, what to do about it.
std::string verdict_lines(const Report& report, const TerminalOptions& options);

// What was looked at.
std::string checked_line(const Report& report, const TerminalOptions& options);

// What this report in particular lacks; empty where there is nothing.
std::string not_checked_line(const Report& report, bool all);

// All that decides what to do next: the verdict, the first cause with its line, cost and fix, and what was
// and was not looked at.
std::string first_screen(const Report& report, const Causes& causes, const TerminalOptions& options);

// What the baseline knows, what it no longer needs, and which of its entries have ended.
std::string baseline_lines(const BaselineComparison& comparison, const GateOptions& gate);

// Which numbers got worse, and which could not be compared. Empty where there is nothing to say.
std::string ratchet_lines(const Ratchet& ratchet);

// The cause that the first screen is about; null where there is none to repair.
const Violation* first_cause(const Report& report, const Causes& causes);

// "1 cause: 1 error, 0 warnings, 0 notes, 2 suppressed; 4 symptoms"
std::string summary_line(const Summary& summary);

}  // namespace capgate::reports::terminal
