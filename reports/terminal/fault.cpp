#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "reports/catalogue/situations.h"
#include "reports/identity/function_key.h"
#include "reports/model/cuda_answer.h"
#include "reports/model/names.h"
#include "reports/terminal/parts.h"

namespace capgate::reports::terminal {
namespace {

std::string painted_severity(Severity severity, const Paint& paint) {
  const std::string_view word = name(severity);
  if (severity == Severity::error) return paint.red(word);
  return severity == Severity::warning ? paint.yellow(word) : paint.cyan(word);
}

// A longer line of source was written by a program.
constexpr size_t kSourceColumns = 240;
constexpr int kAround = 2;

std::string seen_line(const Violation& violation) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (violation.seen_by(Evidence::runtime)) {
    if (violation.processes.size() > 1) add(fmt::format("in {} processes", violation.processes.size()));
    // Per step is how it is told where there are steps.
    if (!violation.per_step) {
      if (violation.count > 1) add(counted(violation.count, "time"));
      if (violation.blocked_us && !was_refused(violation))
        add("the host was blocked for " + duration(*violation.blocked_us));
    }
    // Some rules count the bytes of steps that are left out, some do not.
    if (violation.bytes &&
        (violation.count == 1 || !violation.per_step || violation.per_step->left_out.empty()))
      add(bytes(*violation.bytes) + (violation.count > 1 ? " in all" : ""));
    if (violation.thread) add("thread " + head_of(clean(*violation.thread)));
    if (violation.stream) add("stream " + head_of(clean(*violation.stream)));
    if (violation.device && *violation.device > 0) add(fmt::format("device {}", *violation.device));
  }
  if (violation.seen_by(Evidence::runtime) && violation.seen_by(Evidence::sources))
    add("in the run and in the source");
  return text;
}

std::string flow(const Violation& violation) {
  std::string out;
  for (const auto& step : violation.flow) {
    out += out.empty() ? "  path    " : "          ";
    out += tail_of(clean(step.file)) + sentence(fmt::format(":{}: {}", step.line, step.message)) + "\n";
  }
  return out;
}

}  // namespace

std::optional<uint64_t> number_in(const Violation& violation, const std::string& key) {
  const auto detail = violation.details.find(key);
  if (detail == violation.details.end()) return std::nullopt;
  uint64_t number = 0;
  const char* end = detail->second.data() + detail->second.size();
  const auto read = std::from_chars(detail->second.data(), end, number);
  return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

const Capture* capture_of(const Report& report, const Violation& violation) {
  if (!violation.capture) return nullptr;
  const auto it = std::find_if(report.captures.begin(), report.captures.end(),
                               [&](const Capture& capture) { return capture.id == *violation.capture; });
  return it == report.captures.end() ? nullptr : &*it;
}

std::string heading(const Report& report, const Violation& violation, const Paint& paint) {
  std::string out =
      painted_severity(violation.severity, paint) + " " + paint.bold(head_of(clean(violation.rule)));
  const std::string where = place(violation.location);
  if (!where.empty()) out += " " + where;
  const std::string what = consequence(report, violation);
  if (!what.empty()) out += " - " + what;
  return out + (violation.baseline == BaselineState::known ? " (known)" : "") + "\n";
}

std::string labelled(std::string_view label, std::string_view text, const TerminalOptions& options) {
  constexpr size_t kIndent = 10;
  std::string head = "  " + std::string(label);
  head.resize(std::max(kIndent, head.size() + 1), ' ');
  return head + wrap(text, kIndent, options.width, true);
}

std::string source_lines(const Violation& violation, const Paint& paint, int around) {
  size_t digits = 0;
  for (const auto& line : violation.source) digits = std::max(digits, std::to_string(line.line).size());
  std::string out;
  for (const auto& line : violation.source) {
    if (std::abs(line.line - violation.location.line) > around) continue;
    const bool here = line.line == violation.location.line;
    std::string text = fmt::format("  {} {:>{}} | {}", here ? ">" : " ", line.line, digits,
                                   head_of(clean(line.text), kSourceColumns));
    while (text.ends_with(' ')) text.pop_back();
    out += (here ? paint.bold(text) : paint.dim(text)) + "\n";
  }
  return out;
}

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

namespace {

// What no capture shows: a graph that was built by hand, or that CUDA refused.
std::string where_in_replay(const Violation& violation) {
  const auto detail = [&](const char* key) {
    const auto at = violation.details.find(key);
    return at == violation.details.end() ? std::string() : head_of(clean(at->second));
  };
  if (const std::string refused = detail("refused"); !refused.empty())
    return (refused == "launch" ? "at a " : "at an ") + refused;
  if (const auto launches = number_in(violation, "refused launches"))
    return counted(*launches, "launch", "launches") + " refused";
  return "in a replay";
}

}  // namespace

std::string consequence(const Report& report, const Violation& violation) {
  if (const auto own = violation.details.find("consequence"); own != violation.details.end())
    return sentence(own->second);
  // A line of a step is also in a capture of it: of the first alone the heading names the capture.
  const uint64_t count =
      violation.capture ? number_in(violation, "times captured").value_or(violation.count) : violation.count;
  std::string times = count > 1 ? fmt::format("{} times ", grouped(count)) : "";
  if (violation.per_step) times = per_step(violation) + " ";
  const Rule* rule = find_rule(violation.rule);
  const std::string own(rule ? rule->heading : "");
  constexpr std::string_view kCapture = "{capture}";
  const size_t mark = own.find(kCapture);
  if (!own.empty() && mark == std::string::npos) return times + own;
  if (violation.capture) {
    const Capture* capture = capture_of(report, violation);
    const std::string label =
        capture ? head_of(clean(capture_name(*capture))) : "capture " + head_of(clean(*violation.capture));
    const bool killed = capture && capture->result.starts_with("failed") && was_refused(violation);
    if (killed && violation.severity == Severity::error) return "killed " + label;
    if (mark != std::string::npos) return times + std::string(own).replace(mark, kCapture.size(), label);
    if (const auto captures = number_in(violation, "captures"))
      return fmt::format("{}in {} captures, such as {}", times, grouped(*captures), label);
    return times + "in " + label;
  }
  if (const auto region = violation.details.find("region"); region != violation.details.end())
    return fmt::format("{}in region \"{}\"", times, head_of(clean(region->second)));
  if (const auto graph = violation.details.find("graph"); graph != violation.details.end())
    return times + (own.starts_with("under") ? "under" : "in") + " a graph that is " +
           head_of(clean(graph->second));
  switch (violation.phase) {
    case Phase::warmup:
      return times + "in the first pass";
    case Phase::capture:
      return times + "in a capture";
    case Phase::replay:
      return times + where_in_replay(violation);
    case Phase::step:
      return times + "between replays";
    case Phase::source:
      break;
  }
  return violation.flow.empty() ? "" : "a device value decides";
}

std::string message_below_heading(const Report& report, const Violation& violation) {
  constexpr std::string_view kKilled = "killed ", kEnd = ": ";
  const std::string& message = violation.message;
  const size_t end = message.find(kEnd);
  const bool repeats = message.starts_with(kKilled) && end != std::string::npos &&
                       consequence(report, violation).starts_with(kKilled);
  return sentence(repeats ? message.substr(end + kEnd.size()) : message);
}

std::string fix(const Violation& violation, const TerminalOptions& options) {
  const Situation& situation = situation_named(violation);
  const std::string_view given = fix_given(situation, violation);
  if (given.empty()) return "";
  std::string out = labelled("fix", sentence(given), options);
  const size_t label = out.find("fix");
  if (options.color) out.replace(label, 3, Paint(true).green("fix"));
  if (given == fix_of(situation, violation)) out += code_block(example_of(situation, violation), 12);
  return out;
}

namespace {

// Why it is allowed, and by what: a call has its name in the language of the program.
std::string allowed_by(const Report& report, const Violation& violation) {
  std::string origin = violation.suppressed->origin;
  if (origin == "capgate_allow")
    origin = report.environment.python ? "capgate_marks.allow" : "capgate_allow_begin";
  return sentence(violation.suppressed->reason + " (" + origin + ")");
}

}  // namespace

std::string fault(const Report& report, const Violation& violation, const Causes& causes,
                  const TerminalOptions& options, Printed& printed) {
  const Paint paint(options.color);
  const bool is_first = &violation == printed.first;
  std::string out = heading(report, violation, paint);
  if (!is_first) out += wrap(message_below_heading(report, violation), 2, options.width);
  const Situation& situation = situation_named(violation);
  if (!situation.why.empty() && printed.explained.insert(std::string(situation.id)).second)
    out += wrap(situation.why, 2, options.width);
  const std::string source = is_first ? "" : source_lines(violation, paint, kAround);
  out += source.empty() ? "" : "\n" + source + "\n";
  out += flow(violation);
  out += printed.stacks.print(violation, options);
  if (violation.per_step && !is_first) out += labelled("cost", cost(report, causes, violation), options);
  if (const std::string text = seen_line(violation); !text.empty()) out += labelled("seen", text, options);
  if (violation.suppressed) {
    out += labelled("allowed", allowed_by(report, violation), options);
  }
  if (!is_first) out += fix(violation, options);
  if (const auto& symptoms = causes.symptoms_of(violation); !symptoms.empty()) {
    out += "  " + counted(symptoms.size(), "symptom") + " of it:\n";
    for (const Violation* symptom : symptoms)
      out += "    " + heading(report, *symptom, paint) +
             wrap(message_below_heading(report, *symptom), 6, options.width);
  }
  return out;
}

std::string short_fault(const Report& report, const Violation& violation, const TerminalOptions& options) {
  const Paint paint(options.color);
  std::string text = message_below_heading(report, violation);
  if (violation.suppressed) text = allowed_by(report, violation);
  return (violation.suppressed ? "allowed " : "") + heading(report, violation, paint) +
         wrap(text, 2, options.width);
}

}  // namespace capgate::reports::terminal
