#include <fmt/format.h>

#include <algorithm>

#include "reports/catalogue/situations.h"
#include "reports/model/fingerprint.h"
#include "reports/model/names.h"
#include "reports/model/verdict.h"
#include "reports/terminal/parts.h"

namespace capgate::reports::terminal {
namespace {

const Capture* capture_of(const Report& report, const Violation& violation) {
  if (!violation.capture) return nullptr;
  const auto it = std::find_if(report.captures.begin(), report.captures.end(),
                               [&](const Capture& capture) { return capture.id == *violation.capture; });
  return it == report.captures.end() ? nullptr : &*it;
}

bool seen(const Violation& violation, std::string_view kind) {
  return std::find(violation.evidence.begin(), violation.evidence.end(), kind) != violation.evidence.end();
}

std::string painted_severity(Severity severity, const Paint& paint) {
  const std::string_view word = name(severity);
  if (severity == Severity::error) return paint.red(word);
  return severity == Severity::warning ? paint.yellow(word) : paint.cyan(word);
}

std::string labelled(std::string_view label, std::string_view text, int width) {
  constexpr size_t kIndent = 10;
  std::string head = "  " + std::string(label);
  head.resize(kIndent, ' ');
  return head + wrap(text, kIndent, width, true);
}

std::string heading(const Report& report, const Violation& violation, const Paint& paint) {
  std::string out = painted_severity(violation.severity, paint) + " " + paint.bold(clean(violation.rule));
  const std::string where = place(violation.location);
  if (!where.empty()) out += " " + where;
  const std::string what = consequence(report, violation);
  if (!what.empty()) out += " - " + what;
  return out + (violation.baseline == "known" ? " (known)" : "") + "\n";
}

// A longer line of source was written by a program.
constexpr size_t kSourceColumns = 240;

std::string source_lines(const Violation& violation, const Paint& paint) {
  if (violation.source.empty()) return "";
  size_t digits = 0;
  for (const auto& line : violation.source) digits = std::max(digits, std::to_string(line.line).size());
  std::string out = "\n";
  for (const auto& line : violation.source) {
    const bool here = line.line == violation.location.line;
    std::string text = fmt::format("  {} {:>{}} | {}", here ? ">" : " ", line.line, digits,
                                   head_of(clean(line.text), kSourceColumns));
    while (text.ends_with(' ')) text.pop_back();
    out += (here ? paint.bold(text) : paint.dim(text)) + "\n";
  }
  return out + "\n";
}

std::string seen_line(const Violation& violation) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (seen(violation, "runtime")) {
    if (violation.count > 1) add(counted(violation.count, "time"));
    if (violation.processes.size() > 1) add(fmt::format("in {} processes", violation.processes.size()));
    if (violation.blocked_us) add("the host was blocked for " + duration(*violation.blocked_us));
    if (violation.bytes) add(bytes(*violation.bytes));
    if (violation.thread) add("thread " + clean(*violation.thread));
    if (violation.stream) add("stream " + clean(*violation.stream));
    if (violation.device && *violation.device > 0) add(fmt::format("device {}", *violation.device));
  }
  if (seen(violation, "runtime") && seen(violation, "static")) add("in the run and in the source");
  return text;
}

std::string flow(const Violation& violation) {
  std::string out;
  for (const auto& step : violation.flow) {
    out += out.empty() ? "  path    " : "          ";
    out += tail_of(clean(step.file)) + clean(fmt::format(":{}: {}", step.line, step.message)) + "\n";
  }
  return out;
}

}  // namespace

std::string place(const Location& location) {
  std::string out;
  if (!location.file.empty()) {
    out = tail_of(clean(location.file));
    if (location.line > 0) out += ":" + std::to_string(location.line);
  }
  const std::string key = function_key(location.function);
  std::string function = head_of(clean(key.empty() ? location.function : key));
  if (!function.empty()) {
    const char last = function.back();
    const bool plain = std::isalnum(static_cast<unsigned char>(last)) || last == '_';
    if (plain && function.find('!') == std::string::npos) function += "()";
    out += (out.empty() ? "" : " ") + function;
  }
  return out;
}

std::string consequence(const Report& report, const Violation& violation) {
  if (const auto own = violation.details.find("consequence"); own != violation.details.end())
    return clean(own->second);
  const std::string times = violation.count > 1 ? fmt::format("{} times ", grouped(violation.count)) : "";
  if (violation.capture) {
    const Capture* capture = capture_of(report, violation);
    const std::string label =
        head_of(clean(capture && capture->bucket ? *capture->bucket : *violation.capture));
    const bool killed = capture && capture->result.starts_with("failed") && was_refused(violation);
    if (killed && violation.severity == Severity::error) return fmt::format("killed capture \"{}\"", label);
    return fmt::format("{}in capture \"{}\"", times, label);
  }
  if (const auto region = violation.details.find("region"); region != violation.details.end())
    return fmt::format("{}in region \"{}\"", times, head_of(clean(region->second)));
  switch (violation.phase) {
    case Phase::warmup:
      return times + "in the first pass";
    case Phase::capture:
      return times + "in a capture";
    case Phase::replay:
      return times + "in a replay";
    case Phase::step:
      return times + "between replays";
    case Phase::source:
      break;
  }
  return violation.flow.empty() ? "" : "a device value decides";
}

std::string fault(const Report& report, const Violation& violation, const TerminalOptions& options,
                  std::set<std::string>& explained) {
  const Paint paint(options.color);
  std::string out = heading(report, violation, paint);
  out += wrap(violation.message, 2, options.width);
  const Situation& situation = situation_named(violation);
  if (!situation.why.empty() && explained.insert(std::string(situation.id)).second)
    out += wrap(situation.why, 2, options.width);
  const std::string source = source_lines(violation, paint);
  out += source.empty() ? "" : source;
  out += flow(violation);
  out += stacks(violation, options);
  if (const std::string text = seen_line(violation); !text.empty())
    out += labelled("seen", text, options.width);
  if (violation.suppressed)
    out += labelled("allowed", violation.suppressed->reason + " (" + violation.suppressed->origin + ")",
                    options.width);
  if (const auto given = fix_given(situation, violation); !given.empty()) {
    std::string fix = labelled("fix", given, options.width);
    const size_t label = fix.find("fix");
    if (options.color) fix.replace(label, 3, paint.green("fix"));
    out += fix;
    if (given == fix_of(situation, violation)) out += code_block(example_of(situation, violation), 12);
  }
  return out;
}

std::string short_fault(const Report& report, const Violation& violation, const TerminalOptions& options) {
  const Paint paint(options.color);
  std::string text = violation.message;
  if (violation.suppressed) text = violation.suppressed->reason + " (" + violation.suppressed->origin + ")";
  return (violation.suppressed ? "allowed " : "") + heading(report, violation, paint) +
         wrap(text, 2, options.width);
}

}  // namespace capgate::reports::terminal
