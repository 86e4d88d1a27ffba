#include "static_checks/driver/print.h"

#include <algorithm>
#include <string_view>

#include "base/counted.h"
#include "base/printable.h"
#include "reports/model/names.h"
#include "reports/verdict/failure.h"

namespace capgate::lint {
namespace {

using reports::Severity;
using reports::Violation;

constexpr size_t kShownReasons = 20;

class Printer {
 public:
  explicit Printer(bool color) : color_(color) {}

  std::string run(const reports::Report& report) {
    for (const Violation& violation : report.violations)
      if (!violation.suppressed) one(violation);
    size_t shown = 0;
    for (const reports::Reason& reason : report.reasons) {
      if (++shown > kShownReasons) continue;
      text_ += paint("1;33", "not proved") + ", because " + printable(reason.text) + "\n";
      if (!reason.remedy.empty()) text_ += "  to do: " + printable(reason.remedy) + "\n";
    }
    if (shown > kShownReasons)
      text_ += "not proved, because of " + counted(shown - kShownReasons, "more reason") +
               "; the report (--out) has all of them\n";
    left_out(report);
    sum_up(report);
    return std::move(text_);
  }

 private:
  std::string paint(std::string_view code, std::string_view words) const {
    if (!color_) return std::string(words);
    return "\x1b[" + std::string(code) + "m" + std::string(words) + "\x1b[0m";
  }

  std::string place(const std::string& file, int line, int column) const {
    std::string words = printable(file);
    if (line > 0) words += ":" + std::to_string(line);
    if (line > 0 && column > 0) words += ":" + std::to_string(column);
    return paint("1", words + ":");
  }

  void one(const Violation& violation) {
    const char* code = "1;36";
    if (violation.severity == Severity::error) code = "1;31";
    if (violation.severity == Severity::warning) code = "1;35";
    const reports::Location& at = violation.location;
    text_ += place(at.file, at.line, at.column.value_or(0)) + " " +
             paint(code, std::string(reports::name(violation.severity)) + ":") + " " +
             printable(violation.message) + " [" + violation.rule + "]\n";
    source_line(violation);
    for (const reports::FlowStep& step : violation.flow)
      text_ += place(step.file, step.line, 0) + " " + paint("1;36", "note:") + " " + printable(step.message) +
               "\n";
    if (!violation.hint.empty() && violation.severity != Severity::note)
      text_ += place(at.file, at.line, at.column.value_or(0)) + " " + paint("1;36", "note:") +
               " fix: " + printable(violation.hint) + "\n";
  }

  // As gcc shows it: the number, the line, and a mark below the column.
  void source_line(const Violation& violation) {
    for (const reports::SourceLine& line : violation.source) {
      if (line.line != violation.location.line) continue;
      const std::string number = std::to_string(line.line);
      const std::string margin(number.size() < 5 ? 5 - number.size() : 0, ' ');
      text_ += margin + number + " | " + printable(line.text) + "\n";
      const auto column = static_cast<size_t>(violation.location.column.value_or(0));
      if (column == 0 || column > line.text.size() + 1) return;
      text_ += std::string(margin.size() + number.size(), ' ') + " | ";
      text_ += std::string(characters(printable(std::string_view(line.text).substr(0, column - 1))), ' ');
      text_ += paint("1;32", "^") + "\n";
    }
  }

  // Of UTF-8 text.
  static size_t characters(std::string_view text) {
    return static_cast<size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
  }

  // Functions that did not compile and that no region reaches. What one reaches is a reason of its own.
  void left_out(const reports::Report& report) {
    size_t functions = 0;
    std::string first;
    for (const std::string& text : report.coverage.not_checked) {
      if (text.find("was not analysed: the parser found an error at line") == std::string::npos) continue;
      if (++functions == 1) first = text.substr(0, text.find(": "));
    }
    if (functions)
      text_ += paint("1;36", "left out") + ": " + counted(functions, "function") +
               " with compile errors, in no region's reach, the first at " + printable(first) + "\n";
  }

  void sum_up(const reports::Report& report) {
    const reports::Summary& summary = report.summary;
    const char* code = "1;33";
    if (report.verdict == reports::Verdict::pass) code = "1;32";
    if (report.verdict == reports::Verdict::fail) code = "1;31";
    text_ += paint(code, reports::name(report.verdict)) + ": ";
    if (const auto failure = reports::failure_of(report)) {
      const reports::Location& at = failure->at->location;
      text_ += reports::failure_text(*failure, printable(at.file) + ":" + std::to_string(at.line)) + " - ";
    }
    text_ += counted(summary.errors, "error") + ", " + counted(summary.warnings, "warning") + ", " +
             counted(summary.notes, "note");
    if (summary.symptoms) text_ += ", " + counted(summary.symptoms, "symptom");
    if (summary.suppressed) text_ += " (" + std::to_string(summary.suppressed) + " suppressed)";
    text_ += "; " + counted(report.coverage.files_parsed.value_or(0), "file") + " parsed";
    if (const uint64_t failed = report.coverage.files_failed.value_or(0))
      text_ += ", " + std::to_string(failed) + " not";
    text_ += ", " + counted(report.coverage.regions.size(), "captured region");
    if (const auto& changed = report.coverage.changed)
      text_ += (changed->in_reach.empty() ? "; nothing in them that differs from "
                                          : "; judged where they differ from ") +
               printable(changed->revision) + (changed->in_reach.empty() ? " is in a region's reach" : "");
    text_ += "\n";
  }

  bool color_;
  std::string text_;
};

}  // namespace

std::string printed(const reports::Report& report, bool color) {
  return Printer(color).run(report);
}

}  // namespace capgate::lint
