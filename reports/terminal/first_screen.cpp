// The first screen of a report: what somebody needs who reads nothing else.
#include <fmt/format.h>

#include <algorithm>

#include "reports/terminal/commands.h"
#include "reports/terminal/parts.h"
#include "reports/verdict/claims.h"

namespace capgate::reports::terminal {
namespace {

// What a terminal of the usual size shows at once, with the command above it.
constexpr size_t kMostRows = 25;

size_t rows(const std::string& text, int width) {
  const auto columns_of_a_row = static_cast<size_t>(std::max(width, 20));
  size_t count = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const size_t size = columns(std::string_view(text).substr(begin, end - begin));
    count += std::max<size_t>(1, (size + columns_of_a_row - 1) / columns_of_a_row);
    begin = end + 1;
  }
  return count;
}

// Whether it is new, or how to find out.
std::string novelty(const Violation& violation, const TerminalOptions& options) {
  const std::string baseline = options.baseline_name.empty() ? "the baseline" : options.baseline_name;
  if (violation.baseline == BaselineState::known) return "no: " + baseline + " has it, too";
  if (violation.baseline == BaselineState::new_since) return "yes: " + baseline + " does not have it";
  return "not compared; run: " + show_command("OLDER.json", options.report_name);
}

std::string other_causes(const Report& report, const Causes& causes, const Violation& first) {
  const auto& symptoms = causes.symptoms_of(first);
  std::string out = symptoms.empty() ? "" : counted(symptoms.size(), "symptom") + " of this cause";
  const uint64_t others = report.summary.errors + report.summary.warnings - 1;
  if (others > 0) out += (out.empty() ? "" : ", ") + counted(others, "more cause");
  return out.empty() ? "" : out + (others > 0 ? ", below in the order of their weight" : ", below");
}

// `around`: lines of source before and after the one to change.
std::string cause_block(const Report& report, const Causes& causes, const Violation& cause,
                        const TerminalOptions& options, int around) {
  const Paint paint(options.color);
  std::string out = "\n" + heading(report, cause, paint);
  out += wrap(message_below_heading(report, cause), 2, options.width);
  out += source_lines(cause, paint, around);
  if (const std::string way = way_to_the_call(cause); !way.empty()) out += labelled("calls", way, options);
  out += labelled("cost", cost(report, causes, cause), options);
  out += fix(cause, options);
  out += labelled("new?", novelty(cause, options), options);
  if (const std::string more = other_causes(report, causes, cause); !more.empty())
    out += labelled("more", more, options);
  return out;
}

std::string not_proved(const Report& report, const TerminalOptions& options) {
  const NotProved open = what_was_not_proved(report);
  if (open.text.empty()) return "";
  return wrap(
      "  not proved: " + sentence(open.text) + (open.command.empty() ? "" : "; run: " + clean(open.command)),
      2, options.width);
}

}  // namespace

const Violation* first_cause(const Report& report, const Causes& causes) {
  const auto first =
      std::find_if(report.violations.begin(), report.violations.end(), [&](const Violation& v) {
        return !v.suppressed && v.severity != Severity::note && !causes.cause_of(v);
      });
  return first == report.violations.end() ? nullptr : &*first;
}

std::string first_screen(const Report& report, const Causes& causes, const TerminalOptions& options) {
  const Violation* const cause = first_cause(report, causes);
  if (!cause) return render_headline(report, options);
  const auto screen = [&](const TerminalOptions& view, int around) {
    return verdict_lines(report, view) + cause_block(report, causes, *cause, view, around) + "\n" +
           checked_line(report, view) + (report.verdict == Verdict::fail ? not_proved(report, view) : "");
  };
  TerminalOptions plain = options;
  plain.color = false;
  const int around = rows(screen(plain, 1), options.width) <= kMostRows ? 1 : 0;
  return screen(options, around);
}

std::string summary_line(const Summary& summary) {
  std::string out = fmt::format("{}, {}, {}", counted(summary.errors, "error"),
                                counted(summary.warnings, "warning"), counted(summary.notes, "note"));
  if (summary.suppressed) out += fmt::format(", {} suppressed", grouped(summary.suppressed));
  if (!summary.symptoms) return out;
  // What follows is of causes alone.
  return fmt::format("{}: {}; {}", counted(summary.errors + summary.warnings + summary.notes, "cause"), out,
                     counted(summary.symptoms, "symptom"));
}

}  // namespace capgate::reports::terminal
