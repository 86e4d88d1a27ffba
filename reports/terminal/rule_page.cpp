#include <fmt/format.h>

#include <algorithm>

#include "reports/terminal/parts.h"
#include "reports/terminal/terminal.h"
#include "reports/terminal/text.h"

namespace capgate::reports {

using namespace terminal;

std::string render_rule(const Rule& rule, const TerminalOptions& options) {
  const Paint paint(options.color);
  const auto section = [&](std::string_view title) { return "\n" + paint.bold(title) + "\n"; };
  std::string seen, related;
  for (const auto who : rule.seen_by) {
    std::string_view word = "the engine's own comparison";
    if (who == "runtime") word = "capgate audit";
    if (who == "static") word = "capgate lint";
    seen += (seen.empty() ? "" : ", ") + std::string(word);
  }
  for (const auto id : rule.related) related += (related.empty() ? "" : ", ") + std::string(id);

  std::string out = paint.bold(fmt::format("{}: {}", rule.id, rule.title)) + "\n\n";
  if (!rule.status_text.empty()) out += paint.yellow(rule.status_text) + "\n\n";
  out += wrap(rule.fault, 0, options.width) + "\n";
  out += "  in a capture or a marked region  " + wrap(rule.in_region, 35, options.width, true);
  out += "  once per step                    " + wrap(rule.a_step, 35, options.width, true);
  out +=
      (rule.status.empty() ? "  seen by                          " : "  to be seen by                    ") +
      seen + "\n";
  out += section("Why it matters") + wrap(rule.why, 0, options.width);
  out += section("How to fix it") + wrap(rule.fix, 0, options.width);
  out += section("Example") + code_block(rule.bad);
  out += section("Better") + code_block(rule.good);
  if (const auto found = situations_of_rule(rule.id); !found.empty()) {
    out += section("Situations") +
           wrap("The first one that fits is the one that a report names.", 0, options.width);
    for (const Situation& situation : found) out += "\n" + render_situation(situation, options);
  }
  const std::string mark = rule.language == "python" ? "#" : "//";
  out += section("When it is meant");
  out += wrap(
      fmt::format(
          "`{} capgate-allow({}): the reason` on the line or the line above, or `{}:GLOB  the reason` in "
          "the suppressions file.",
          mark, rule.id, rule.id),
      0, options.width);
  if (!related.empty()) out += "\nSee also: " + related + "\n";
  return out;
}

std::string render_rule_list(const TerminalOptions& options) {
  const Paint paint(options.color);
  size_t id_columns = 0;
  for (const Rule& rule : rules()) id_columns = std::max(id_columns, rule.id.size());
  std::string out;
  for (const Rule& rule : rules()) {
    std::string seen;
    for (const auto who : rule.seen_by) seen += (seen.empty() ? "" : ", ") + std::string(who);
    const std::string gap(id_columns - rule.id.size() + 2, ' ');
    if (!rule.status.empty()) seen = rule.status;
    out += fmt::format("{}{}{} ({})\n", paint.bold(rule.id), gap, rule.title, seen);
  }
  return out +
         "\n`capgate explain RULE` prints what a rule means and how to fix it; nothing raises a planned rule "
         "yet.\n";
}

}  // namespace capgate::reports
