#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "reports/terminal/parts.h"
#include "reports/terminal/terminal.h"

namespace capgate::reports {
namespace {

using namespace terminal;

constexpr size_t kShownReasons = 10;

std::string reasons(const Report& report, const TerminalOptions& options) {
  const Paint paint(options.color);
  // The first stands in the headline when it decides.
  const size_t told = report.verdict == Verdict::inconclusive ? 1 : 0;
  std::string out;
  const size_t shown = options.all ? report.reasons.size() : std::min(report.reasons.size(), kShownReasons);
  for (size_t i = told; i < shown; ++i) {
    out += paint.yellow(told ? "also unproven" : "unproven") + ": " +
           wrap(report.reasons[i].text, 2, options.width, true);
    if (!report.reasons[i].remedy.empty()) out += wrap("run: " + report.reasons[i].remedy, 2, options.width);
  }
  if (shown < report.reasons.size())
    out += fmt::format("… and {}; `capgate show --all` lists them\n",
                       counted(report.reasons.size() - shown, "more reason"));
  return out;
}

std::string metrics(const Report& report) {
  std::string out;
  for (const auto& [key, value] : report.metrics) {
    if (value == 0) continue;
    std::string words = clean(key);
    std::replace(words.begin(), words.end(), '_', ' ');
    out += (out.empty() ? "" : ", ") + fmt::format("{} {:.4g}", words, value);
  }
  return out;
}

std::string last_line(const Report& report) {
  const Summary& summary = report.summary;
  std::string out = fmt::format("{}, {}, {}", counted(summary.errors, "error"),
                                counted(summary.warnings, "warning"), counted(summary.notes, "note"));
  if (summary.suppressed) out += fmt::format(", {} suppressed", grouped(summary.suppressed));
  if (!report.violations.empty()) out += "; `capgate explain RULE` tells more";
  return out + "\n";
}

}  // namespace

int terminal_width(int fd) {
  winsize size{};
  if (::isatty(fd) == 1 && ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return std::clamp<int>(size.ws_col, 40, 160);
  return 100;
}

std::string render_terminal(const Report& report, const TerminalOptions& options) {
  std::string out;
  render_terminal(report, options, [&](std::string_view text) { out += text; });
  return out;
}

void render_terminal(const Report& report, const TerminalOptions& options,
                     const std::function<void(std::string_view)>& print) {
  print(render_headline(report, options));
  if (const std::string text = reasons(report, options); !text.empty()) print("\n" + text);
  std::set<std::string> explained;
  bool after_short = false;
  for (const auto& violation : report.violations) {
    const bool brief = !options.all && (violation.suppressed || violation.severity == Severity::note);
    if (!brief || !after_short) print("\n");
    print(brief ? short_fault(report, violation, options) : fault(report, violation, options, explained));
    after_short = brief;
  }
  if (const std::string text = metrics(report); !text.empty())
    print("\n" + wrap("metrics: " + text, 0, options.width));
  print("\n" + last_line(report));
}

}  // namespace capgate::reports
