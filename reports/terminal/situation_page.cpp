#include <fmt/format.h>

#include "reports/terminal/parts.h"
#include "reports/terminal/terminal.h"
#include "reports/terminal/text.h"

namespace capgate::reports {

using namespace terminal;

std::string terminal::code_block(std::string_view code, size_t indent) {
  const std::string margin(indent, ' ');
  std::string out;
  for (size_t at = 0; at < code.size();) {
    const size_t end = std::min(code.find('\n', at), code.size());
    out += margin + std::string(code.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return out;
}

std::string render_situation(const Situation& situation, const TerminalOptions& options) {
  const Paint paint(options.color);
  const auto example = [&](std::string_view language, std::string_view code, std::string_view none) {
    if (code.empty()) return fmt::format("  {}: {}\n", language, none);
    return fmt::format("  {}:\n", language) + code_block(code, 6);
  };
  std::string out = paint.bold(fmt::format("{}: {}", situation.id, situation.title)) + "\n";
  out += wrap(situation.why, 2, options.width);
  // One situation of many calls, each with its own replacement.
  const std::string_view fix = situation.fix == "{replacement}"
                                   ? "use what docs/rules/calls.md names in place of the call"
                                   : situation.fix;
  out += "  fix: " + wrap(std::string(fix), 7, options.width, true);
  if (!situation.python_fix.empty())
    out += "  fix in Python: " + wrap(situation.python_fix, 7, options.width, true);
  return out + example("C++", situation.cpp, situation.no_cpp) +
         example("Python", situation.python, situation.no_python);
}

std::string render_replacement(const Replacement& row, const TerminalOptions& options) {
  const Paint paint(options.color);
  std::string apis, rules;
  for (const auto rule : row.rules) rules += (rules.empty() ? "" : ", ") + std::string(rule);
  for (const auto api : row.apis) apis += (apis.empty() ? "" : ", ") + std::string(api);
  return paint.bold(apis) + "\n" +
         wrap("A capture refuses it or leaves it out, in some mode or on some stream.", 2, options.width) +
         "  instead: " + wrap(row.instead, 11, options.width, true) + "  rules:   " +
         wrap(rules +
                  "; on another thread than the one that captures, cross-thread-call. `capgate explain RULE` "
                  "has the details.",
              11, options.width, true);
}

}  // namespace capgate::reports
