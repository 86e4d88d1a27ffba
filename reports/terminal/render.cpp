#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

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
    out += paint.yellow("not proved") + ", because " +
           wrap(sentence(report.reasons[i].text), 2, options.width, true);
    if (!report.reasons[i].remedy.empty())
      out += wrap("to do: " + sentence(report.reasons[i].remedy), 2, options.width);
  }
  if (shown < report.reasons.size())
    out += fmt::format("… and {}; `capgate show --all` lists them\n",
                       counted(report.reasons.size() - shown, "more reason"));
  return out;
}

bool has_marked_step(const Report& report) {
  return std::any_of(report.coverage.regions.begin(), report.coverage.regions.end(),
                     [](const RegionCoverage& region) {
                       return region.source != RegionSource::lint && region.occurrences >= 2;
                     });
}

// Where a graph was launched more than once, the figures are of the one with the most steps.
std::string step_words(const Report& report) {
  const auto& replay = report.coverage.replay;
  const bool between = replay ? report.coverage.replays > replay->graphs
                              : report.coverage.replays > 1 && !has_marked_step(report);
  if (!between) return "per step";
  return replay && replay->graphs > 1
             ? "per step, from one launch of the graph with the most launches to the next"
             : "per step, from one launch of a graph to the next";
}

std::string metrics(const Report& report) {
  std::string out;
  const auto metric = [&](const char* key) {
    const auto at = report.metrics.find(key);
    return at == report.metrics.end() ? 0 : at->second;
  };
  const auto add = [&](const std::string& part) { out += (out.empty() ? "" : ", ") + part; };
  if (const double waits = metric("waits_per_step"); waits > 0)
    add(fmt::format("{:.4g} {}", waits, waits == 1 ? "wait" : "waits"));
  if (const double blocked = metric("blocked_us_per_step"); blocked > 0)
    add("host blocked " + duration(blocked));
  if (const double pageable = metric("pageable_bytes_per_step"); pageable > 0)
    add(fmt::format("{:.4g} bytes copied from or into pageable memory", pageable));
  if (const double allocs = metric("allocs_per_step"); allocs > 0)
    add(fmt::format("{:.4g} {}", allocs, allocs == 1 ? "allocation" : "allocations"));
  const double steps = metric("steps");
  if (!out.empty())
    out = step_words(report) + (steps > 0 ? " (" + counted(static_cast<uint64_t>(steps), "step") + ")" : "") +
          ": " + out;
  static constexpr std::array<std::string_view, 5> kTold{
      "waits_per_step", "blocked_us_per_step", "pageable_bytes_per_step", "allocs_per_step", "steps"};
  for (const auto& [key, value] : report.metrics) {
    if (value == 0 || std::find(kTold.begin(), kTold.end(), key) != kTold.end()) continue;
    std::string words = clean(key);
    std::replace(words.begin(), words.end(), '_', ' ');
    add(fmt::format("{} {:.4g}", words, value));
  }
  return out;
}

std::string last_line(const Report& report) {
  return summary_line(report.summary) +
         (report.violations.empty() ? "" : "; `capgate explain RULE` has the details") + "\n";
}

// What is listed: a symptom is printed with its cause, where that is listed too.
std::vector<const Violation*> shown(const Report& report, const Causes& causes,
                                    const TerminalOptions& options) {
  std::vector<const Violation*> out;
  for (const Violation& violation : report.violations) {
    if (!options.selection.takes(violation)) continue;
    const Violation* cause = options.all ? nullptr : causes.cause_of(violation);
    if (!cause || !options.selection.takes(*cause)) out.push_back(&violation);
  }
  return out;
}

std::string selected_line(const Report& report, size_t count) {
  return fmt::format("{} of {} selected", count == 0 ? "none" : grouped(count),
                     counted(report.violations.size(), "finding"));
}

}  // namespace

int terminal_width(int fd) {
  winsize size{};
  if (::isatty(fd) == 1 && ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return std::clamp<int>(size.ws_col, 40, 160);
  return 100;
}

std::string render_first_screen(const Report& report, const TerminalOptions& options) {
  return first_screen(report, Causes(report), options);
}

std::string render_terminal(const Report& report, const TerminalOptions& options) {
  std::string out;
  render_terminal(report, options, [&](std::string_view text) { out += text; });
  return out;
}

void render_terminal(const Report& report, const TerminalOptions& options,
                     const std::function<void(std::string_view)>& print_lines) {
  // Each of them begins a line.
  const auto print = [&](std::string_view lines) { print_lines(without_commands(lines)); };
  const Causes causes(report);
  const bool selected = !options.selection.empty();
  const auto wanted = shown(report, causes, options);
  Printed printed;
  if (selected) {
    print(render_headline(report, options));
    print("\n" + selected_line(report, wanted.size()) + "\n");
  } else {
    print(first_screen(report, causes, options));
    printed.first = first_cause(report, causes);
    if (printed.first) print("\n" + Paint(options.color).dim("---- every finding ----") + "\n");
    if (const std::string text = reasons(report, options); !text.empty()) print("\n" + text);
  }
  const bool line_each = !options.all && wanted.size() > kMostInFull;
  bool after_short = false;
  for (const Violation* violation : wanted) {
    const bool brief =
        line_each || (!options.all && (violation->suppressed || violation->severity == Severity::note));
    if (!brief || !after_short) print("\n");
    if (line_each)
      print(listed_fault(report, *violation, causes, options));
    else
      print(brief ? short_fault(report, *violation, options)
                  : fault(report, *violation, causes, options, printed));
    after_short = brief;
  }
  if (line_each) print("\n" + how_to_see_more(options));
  if (selected) return;
  if (const std::string text = metrics(report); !text.empty()) print("\n" + wrap(text, 0, options.width));
  print("\n" + last_line(report));
}

}  // namespace capgate::reports
