#include <fmt/format.h>

#include <algorithm>

#include "base/file_name.h"
#include "reports/terminal/parts.h"
#include "reports/terminal/terminal.h"
#include "reports/verdict/claims.h"
#include "reports/verdict/failure.h"
#include "reports/verdict/gaps.h"
#include "reports/verdict/watched.h"

namespace capgate::reports {
namespace {

using namespace terminal;

void add(std::string& list, const std::string& part, std::string_view between = ", ") {
  if (part.empty()) return;
  if (!list.empty()) list += between;
  list += part;
}

bool only_sources(const Report& report) {
  return report.coverage.kind == CoverageKind::source;
}

std::string counts(uint64_t errors, uint64_t warnings) {
  std::string out;
  if (errors) add(out, counted(errors, "error"));
  if (warnings) add(out, counted(warnings, "warning"));
  return out;
}

// "2 errors, 1 warning"; compared with a baseline "1 new error, 1 known error, 1 known warning".
std::string counts(const Report& report) {
  if (!report.compared) return counts(report.summary.errors, report.summary.warnings);
  const Compared& compared = *report.compared;
  std::string out;
  const auto some = [&](uint64_t count, const char* noun) {
    if (count) add(out, counted(count, noun));
  };
  some(compared.new_errors, "new error");
  some(compared.new_warnings, "new warning");
  some(compared.known_errors, "known error");
  some(compared.known_warnings, "known warning");
  return out;
}

std::string verdict_line(const Report& report, const Paint& paint) {
  const std::string about = subject(report);
  switch (report.verdict) {
    case Verdict::fail: {
      const auto failure = failure_of(report);
      const std::string kind = failure ? failure_text(*failure, place(failure->at->location))
                                       : "the step cannot be replayed as it is";
      return paint.red("FAIL") + fmt::format(": {} - {}: {}", kind, counts(report), about);
    }
    case Verdict::inconclusive:
      return paint.yellow("INCONCLUSIVE") +
             fmt::format(
                 ": {} - nothing is proved about {}",
                 sentence(report.reasons.empty() ? "no reason is given" : report.reasons.front().text),
                 about);
    case Verdict::pass:
      break;
  }
  const Claim claim = what_was_proved(report);
  const char* const none = report.compared ? ": no new error - " : ": no error - ";
  if (claim.scope.empty()) return paint.green("PASS") + none + about;
  return paint.green("PASS") + fmt::format(" ({}): {} - {}", claim.scope, clean(claim.text), about);
}

std::string second_line(const Report& report, const Paint& paint) {
  if (report.verdict == Verdict::inconclusive) {
    const std::string remedy = report.reasons.empty() ? "" : report.reasons.front().remedy;
    return "  to do:   " + paint.bold(sentence(remedy.empty() ? "capgate audit -- PROGRAM" : remedy));
  }
  if (report.verdict == Verdict::pass) {
    const NotProved open = what_was_not_proved(report);
    return "  not proved: " + open.text + (open.command.empty() ? "" : "; run: " + paint.bold(open.command)) +
           what_was_seen(report);
  }
  const auto failure = failure_of(report);
  if (!failure) return "";
  std::string out =
      fmt::format("  worst:   {} {}", head_of(clean(failure->at->rule)), place(failure->at->location));
  if (!failure->at->hint.empty()) out += " - " + sentence(failure->at->hint);
  return out;
}

std::string captures(const Report& report) {
  const Coverage& coverage = report.coverage;
  std::string out;
  if (coverage.captures_completed) add(out, counted(coverage.captures_completed, "capture") + " completed");
  if (coverage.captures_failed)
    add(out, coverage.captures_completed ? grouped(coverage.captures_failed) + " failed"
                                         : counted(coverage.captures_failed, "capture") + " failed");
  if (coverage.captures_empty)
    add(out, coverage.captures_completed || coverage.captures_failed
                 ? grouped(coverage.captures_empty) + " empty"
                 : counted(coverage.captures_empty, "empty capture"));
  if (coverage.captures_open) add(out, grouped(coverage.captures_open) + " left open");
  if (coverage.replays) add(out, counted(coverage.replays, "replay"));
  return out;
}

// The first three, then how many more.
constexpr size_t kListed = 3;

// What no run or lint of this kind looks at is summed up in the second line.
std::string missed(const Report& report, bool all) {
  const std::vector<std::string> gaps = all ? report.coverage.not_checked : particular_gaps(report);
  std::string out;
  const size_t listed = all ? gaps.size() : std::min(gaps.size(), kListed);
  for (size_t i = 0; i < listed; ++i) add(out, sentence(gaps[i]), "; ");
  if (listed < gaps.size()) add(out, fmt::format("and {} more", grouped(gaps.size() - listed)), "; ");
  return out;
}

std::string third_line(const Report& report, bool all) {
  const Coverage& coverage = report.coverage;
  std::string done = captures(report);
  uint64_t in_source = 0, marked = 0;
  for (const auto& region : coverage.regions) {
    if (region.source == RegionSource::lint)
      ++in_source;  // its occurrences are the units that hold it
    else if (++marked <= kListed || all)
      add(done, fmt::format("region \"{}\" seen {}", head_of(clean(region.name)),
                            counted(region.occurrences, "time")));
  }
  if (marked > kListed && !all) add(done, counted(marked - kListed, "more region"));
  uint64_t events = 0;
  for (const auto& process : coverage.processes) events += process.events;
  if (!coverage.processes.empty())
    add(done, counted(events, "event") + (coverage.processes.size() > 1
                                              ? fmt::format(" of {} processes", coverage.processes.size())
                                              : ""));
  if (coverage.files_parsed) add(done, counted(*coverage.files_parsed, "file") + " parsed");
  if (in_source)
    add(done, counted(in_source, "region") + " in the source");
  else if (only_sources(report) && report.violations.empty() && coverage.files_parsed.value_or(0))
    add(done, *coverage.files_parsed == 1 ? "no captured step in it" : "no captured step in them");
  if (coverage.files_failed.value_or(0)) add(done, grouped(*coverage.files_failed) + " not parsed");
  if (done.empty()) done = "nothing";
  const std::string not_checked = missed(report, all);
  return "  checked: " + done + (not_checked.empty() ? "" : "; not checked: " + not_checked);
}

}  // namespace

std::string terminal::subject(const Report& report) {
  const Subject& subject = report.subject;
  std::string program(file_name(subject.program));
  if (program.empty() && only_sources(report)) {  // what ran was capgate itself
    const auto sources = subject.more.find("sources");
    program = sources == subject.more.end() ? "these sources" : sources->second;
  }
  if (program.empty() && report.run && !report.run->argv.empty())
    program = file_name(report.run->argv.front());
  if (program.empty()) program = "the program";
  std::string more;
  if (!subject.build_id.empty()) add(more, "build " + subject.build_id.substr(0, 12));
  // A Python program: the interpreter's build would tell nothing.
  const auto fact = [&](const std::string& key) {
    const auto known = subject.more.find(key);
    return known == subject.more.end() ? std::string() : known->second;
  };
  if (const auto commit = fact("commit"); !commit.empty()) add(more, "commit " + commit.substr(0, 12));
  for (const std::string package : {"torch", "transformers"})
    if (const auto version = fact(package); !version.empty()) add(more, package + " " + version);
  const Environment& here = report.environment;
  if (fact("torch").empty() && !here.torch) {  // which comes with a CUDA of its own
    if (!here.cuda_runtime.empty()) add(more, "CUDA " + here.cuda_runtime);
    if (!here.driver.empty()) add(more, "driver " + here.driver);
  }
  if (!subject.mode.empty()) add(more, "mode " + subject.mode);
  if (!subject.buckets.empty()) add(more, counted(subject.buckets.size(), "bucket"));
  if (!subject.sm.empty()) {
    const std::string sm = subject.sm.starts_with("sm") ? subject.sm : "sm_" + subject.sm;
    add(more, subject.devices.value_or(1) > 1 ? fmt::format("{} x {}", *subject.devices, sm) : sm);
  }
  program = head_of(clean(program));
  return more.empty() ? program : program + " (" + clean(more) + ")";
}

std::string terminal::compared_text(const Report& report) {
  if (!report.compared) return "";
  const Compared& compared = *report.compared;
  const auto nothing = [](const std::string& text) { return text.empty() ? std::string("nothing") : text; };
  return fmt::format("against {}: {} new; {} known; {} fixed", tail_of(clean(compared.file)),
                     nothing(counts(compared.new_errors, compared.new_warnings)),
                     nothing(counts(compared.known_errors, compared.known_warnings)),
                     compared.fixed ? grouped(compared.fixed) : "nothing");
}

namespace {

std::string compared_line(const Report& report) {
  return report.compared ? "  " + compared_text(report) + "\n" : "";
}

}  // namespace

std::string terminal::verdict_lines(const Report& report, const TerminalOptions& options) {
  const Paint paint(options.color);
  const std::string second = report.verdict == Verdict::fail ? "" : second_line(report, paint);
  return verdict_line(report, paint) + "\n" + compared_line(report) + second + (second.empty() ? "" : "\n");
}

std::string terminal::not_checked_line(const Report& report, bool all) {
  const std::string text = missed(report, all);
  return text.empty() ? "" : "  not checked: " + text + "\n";
}

std::string terminal::checked_line(const Report& report, const TerminalOptions& options) {
  return third_line(report, options.all) + "\n";
}

std::string render_headline(const Report& report, const TerminalOptions& options) {
  const Paint paint(options.color);
  const std::string second = second_line(report, paint);
  return verdict_line(report, paint) + "\n" + compared_line(report) + second + (second.empty() ? "" : "\n") +
         checked_line(report, options);
}

}  // namespace capgate::reports
