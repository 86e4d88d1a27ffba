#include "detector/analysis/coverage.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include "base/counted.h"
#include "base/region_pattern.h"
#include "detector/analysis/graph_coverage.h"
#include "detector/analysis/notices.h"
#include "detector/analysis/results.h"
#include "detector/trace/python_script.h"

namespace capgate::analysis {
namespace {

using reports::Report;

std::string who(const trace::ProcessTrace& process) {
  const std::string_view argv0 = process.fact("argv0");
  return "process " + std::to_string(process.pid) + (argv0.empty() ? "" : " (" + std::string(argv0) + ")");
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() ? std::optional(value) : std::nullopt;
}

// Subscribed is not enough: a CUPTI older than the GPU subscribes and stays silent. That is a matter of the
// library and the machine: what another process of the run proved for the same library holds for a process
// that made no call of its own, as workers that only initialise CUDA do.
bool is_attached(const seal::SealedTrace& trace, const trace::ProcessTrace& process) {
  if (process.fact("cupti.state") != "attached") return false;
  if (!process.fact("cupti.proof").empty()) return true;
  return !process.fact("cupti.path").empty() && process.fact("gave-up").empty() && process.dropped == 0 &&
         std::any_of(trace.processes.begin(), trace.processes.end(), [&](const auto& other) {
           return !other.trace.fact("cupti.proof").empty() &&
                  other.trace.fact("cupti.path") == process.fact("cupti.path");
         });
}

std::string why_not_attached(const trace::ProcessTrace& process) {
  if (process.fact("cupti.state") == "attached") return "no callback arrived after subscribing";
  for (const auto key : {"cupti.error", "gave-up"})
    if (!process.fact(key).empty()) return std::string(process.fact(key));
  return "CUPTI is unavailable";
}

void attachment(const seal::SealedTrace& trace, Report& report) {
  constexpr std::string_view kHeld = "held-by:";
  auto& coverage = report.coverage;
  coverage.cupti = trace.processes.empty() ? "unavailable" : "attached";
  for (const auto& process : trace.processes) {
    const auto& t = process.trace;
    reports::ProcessCoverage seen;
    seen.pid = t.pid;
    seen.rank = number(t.fact("rank"));
    seen.argv0 = t.fact("argv0");
    seen.attached = is_attached(trace, t);
    seen.events = t.events;
    seen.events_dropped = t.dropped;
    coverage.processes.push_back(seen);

    const std::string state(t.fact("cupti.state"));
    if (state.starts_with(kHeld)) {
      const std::string holder = state.substr(kHeld.size());
      coverage.cupti = state;
      report.reasons.push_back(
          {who(t) + ": CUPTI is held by " + (holder.empty() ? "another tool" : holder) +
               ", so the detector saw nothing",
           "run it without " + (holder.empty() ? "the other tool" : holder) + ": capgate audit -- PROGRAM"});
    } else if (!seen.attached) {
      if (coverage.cupti == "attached") coverage.cupti = "unavailable";
      report.reasons.push_back(
          {who(t) + ": the detector did not attach: " + why_not_attached(t),
           "run it where an NVIDIA driver and a CUPTI that fits it are: capgate audit -- PROGRAM"});
    } else if (t.state == trace::FileState::gave_up) {
      report.reasons.push_back({who(t) + ": the detector gave up on the way" +
                                    (t.fact("gave-up").empty() ? "" : ": " + std::string(t.fact("gave-up"))),
                                "free the resource it names, then audit again: capgate audit -- PROGRAM"});
    }
    if (const auto left_out = t.fact("setting.CAPGATE_WITHOUT"); !left_out.empty())
      report.reasons.push_back(
          {who(t) + ": recorded without " + std::string(left_out) + ", which is for measuring what they cost",
           "unset CAPGATE_WITHOUT: capgate audit -- PROGRAM"});
    if (t.dropped > 0)
      report.reasons.push_back(
          {who(t) + ": " + counted(t.dropped, "event") + " did not fit into the trace",
           "record less: capgate audit --until captures=1 -- PROGRAM, or give the trace a folder with "
           "more room: --trace DIR"});
  }
}

void unseen_processes(const seal::SealedTrace& trace, Report& report) {
  for (const auto& process : trace.unseen)
    report.reasons.push_back({"process " + std::to_string(process.pid) +
                                  (process.argv0.empty() ? "" : " (" + process.argv0 + ")") +
                                  " used CUDA and left no trace" +
                                  (process.why.empty() ? "" : ": " + process.why),
                              "start it under capgate itself: capgate audit -- PROGRAM"});
  for (const auto& sentence : trace.unreadable)
    report.reasons.push_back({sentence, "audit again: capgate audit -- PROGRAM"});
}

void captures(const seal::SealedTrace& trace, const std::vector<Timeline>& timelines, Report& report) {
  auto& coverage = report.coverage;
  std::set<std::string> done;
  for (const auto& timeline : timelines) {
    coverage.replays += timeline.launches.size();
    for (const auto& capture : timeline.captures) {
      switch (capture.state) {
        case CaptureState::completed:
          ++coverage.captures_completed;
          if (!capture.bucket.empty()) done.insert(capture.bucket);
          break;
        case CaptureState::empty:
          ++coverage.captures_empty;
          break;
        case CaptureState::failed:
          ++coverage.captures_failed;
          break;
        case CaptureState::open:
          ++coverage.captures_open;
          if (!timeline.detached)
            report.reasons.push_back(
                {capture_name(timeline, capture) + " was still open when the trace ended",
                 "end the capture (cudaStreamEndCapture) before the program ends, then: capgate audit -- "
                 "PROGRAM"});
          break;
      }
    }
  }
  for (const auto& bucket : trace.expected.buckets)
    if (!done.contains(bucket))
      report.reasons.push_back({"the expected bucket \"" + bucket + "\" was not captured",
                                "make the run capture it inside capgate_bucket(\"" + bucket +
                                    "\"): capgate audit --expect-bucket '" + bucket + "' -- PROGRAM"});
  report.subject.buckets.assign(done.begin(), done.end());
}

// Nothing was captured because the framework that captures by itself chose not to.
void skipped(const std::vector<Timeline>& timelines, Report& report) {
  const Skipped skipped = skipped_captures(timelines);
  if (skipped.times == 0 || report.coverage.captures_completed > 0) return;
  report.reasons.push_back({"no capture completed: torch.compile went without CUDA graphs " +
                                (skipped.times == 1 ? "once" : counted(skipped.times, "time")) +
                                (skipped.reason.empty() ? "" : " (" + skipped.reason + ")"),
                            "change what keeps it from capturing, then: capgate audit -- PROGRAM"});
}

void regions(const std::vector<Timeline>& timelines, const std::vector<std::string>& patterns,
             Report& report) {
  std::map<std::pair<std::string, reports::RegionSource>, uint64_t> seen;
  for (const auto& timeline : timelines)
    for (const auto& region : timeline.regions)
      ++seen[{region.name,
              region.capgate_h ? reports::RegionSource::capgate_h : reports::RegionSource::nvtx}];
  for (const auto& [key, count] : seen) report.coverage.regions.push_back({key.first, key.second, count});
  for (const auto& pattern : patterns) {
    const bool met = std::any_of(seen.begin(), seen.end(), [&](const auto& region) {
      return glob_match(region_pattern(pattern).name, region.first.first);
    });
    if (!met) report.coverage.not_checked.push_back("no range matched --region '" + pattern + "'");
  }
}

// A framework that refuses a call itself, before CUDA sees it, ends the program in the middle of a capture.
void refused_by_framework(const std::vector<Timeline>& timelines, Report& report) {
  if (!report.run || report.run->stopped_by_user ||
      (report.run->exit_code.value_or(0) == 0 && !report.run->signal))
    return;
  for (const auto& timeline : timelines) {
    if (timeline.captures.empty()) continue;
    const Capture& last = timeline.captures.back();
    const bool after =
        !timeline.launches.empty() && timeline.call(timeline.launches.back().call).r.h.seq > last.begin_seq;
    if (last.state == CaptureState::failed || last.launches > 0 || after) continue;
    report.coverage.not_checked.push_back(
        "what stopped the program in " + capture_name(timeline, last) +
        ": it ended with an error there and never replayed it, and CUDA refused nothing; a framework that "
        "refuses a call "
        "itself (PyTorch does for copies from pageable memory) names it in the program's own output");
  }
}

void environment(const seal::SealedTrace& trace, Report& report) {
  auto& env = report.environment;
  for (const auto& process : trace.processes) {
    const auto& t = process.trace;
    const auto first = [&](std::string& to, std::string_view key) {
      if (to.empty()) to = t.fact(key);
    };
    first(env.driver, "driver.release");
    first(env.driver, "driver");
    first(env.cuda_runtime, "runtime");
    first(env.cupti.path, "cupti.path");
    first(env.cupti.version, "cupti.version");
    first(env.host, "host");
    if (!env.python && !t.fact("python").empty()) env.python = std::string(t.fact("python"));
    if (!env.torch && !t.fact("torch").empty()) env.torch = std::string(t.fact("torch"));
    for (const auto& [key, value] : t.meta) {
      constexpr std::string_view kGpu = "gpu.";
      const auto index =
          key.starts_with(kGpu) ? number(std::string_view(key).substr(kGpu.size())) : std::nullopt;
      if (!index ||
          std::any_of(env.gpus.begin(), env.gpus.end(), [&](const auto& gpu) { return gpu.index == *index; }))
        continue;
      const size_t bar = value.find('|');
      const size_t next = bar == std::string::npos ? bar : value.find('|', bar + 1);
      reports::Gpu gpu;
      gpu.index = *index;
      gpu.name = value.substr(0, bar);
      if (bar != std::string::npos)
        gpu.sm = value.substr(bar + 1, next == std::string::npos ? std::string::npos : next - bar - 1);
      env.gpus.push_back(gpu);
    }
    for (const auto& record : t.counters) {
      constexpr std::string_view kThinned = "thinned:";
      const std::string_view name = t.text(record.r.name);
      if (name.starts_with(kThinned) && record.r.value > 0)
        report.coverage.not_checked.push_back(counted(record.r.value, "event") + " of " + who(t) +
                                              " left out because the trace was full (" +
                                              std::string(name.substr(kThinned.size())) + ")");
    }
    if (!t.fact("stacks").empty())
      report.coverage.not_checked.push_back("C++ lines of " + who(t) + ": " + std::string(t.fact("stacks")));
    auto& not_checked = report.coverage.not_checked;
    for (const auto& [key, what] : {std::pair("python.lines", "Python lines: "),
                                    std::pair("python.exceptions", "Python exceptions that left a capture: "),
                                    std::pair("python.notices", "captures that torch.compile skipped: ")}) {
      const std::string said = what + std::string(t.fact(key));
      if (!t.fact(key).empty() &&
          std::find(not_checked.begin(), not_checked.end(), said) == not_checked.end())
        not_checked.push_back(said);
    }
  }
  if (const auto torch = trace.program.find("torch"); !env.torch && torch != trace.program.end())
    env.torch = torch->second;
  std::sort(env.gpus.begin(), env.gpus.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
}

// A Python program is its script, as reports name files, and not the interpreter.
void python_subject(const seal::SealedTrace& trace, reports::Subject& subject) {
  for (const auto& process : trace.processes) {
    const std::string script = trace::python_script(process.trace);
    if (script.empty()) continue;
    const auto name = std::filesystem::path(script).filename().string();
    const auto main =
        std::find_if(trace.frames.begin(), trace.frames.end(), [&](const reports::Frame& frame) {
          return frame.language == reports::FrameLanguage::python && frame.function == "<module>" &&
                 std::filesystem::path(frame.file).filename().string() == name;
        });
    subject.program = main == trace.frames.end() ? name : main->file;
    subject.build_id.clear();
    subject.more["interpreter"] = std::filesystem::path(process.trace.fact("exe")).filename().string();
    if (!process.build_id.empty()) subject.more["interpreter_build_id"] = process.build_id;
    break;
  }
  for (const auto& [key, value] : trace.program) subject.more[key] = value;
}

void subject(const seal::SealedTrace& trace, Report& report) {
  auto& subject = report.subject;
  if (!trace.run.argv.empty())
    subject.program = std::filesystem::path(trace.run.argv.front()).filename().string();
  for (const auto& process : trace.processes)
    if (subject.build_id.empty()) subject.build_id = process.build_id;
  python_subject(trace, subject);
  for (const auto& process : trace.processes) {
    for (const auto& [key, value] : process.trace.meta) {
      constexpr std::string_view kSubject = "subject.";
      if (!key.starts_with(kSubject)) continue;
      const std::string name = key.substr(kSubject.size());
      const std::map<std::string, std::string*> known{{"program", &subject.program},
                                                      {"build_id", &subject.build_id},
                                                      {"source_digest", &subject.source_digest},
                                                      {"code_digest", &subject.code_digest},
                                                      {"config_digest", &subject.config_digest},
                                                      {"mode", &subject.mode}};
      if (const auto field = known.find(name); field != known.end())
        *field->second = value;
      else
        subject.more[name] = value;
    }
  }
  const auto& env = report.environment;
  if (!env.gpus.empty()) {
    subject.sm = env.gpus.front().sm;
    subject.devices = static_cast<int>(env.gpus.size());
  }
  subject.driver_branch = env.driver.substr(0, env.driver.find('.'));
}

}  // namespace

void describe_run(const seal::SealedTrace& trace, const std::vector<Timeline>& timelines,
                  const std::vector<std::string>& patterns, Report& report) {
  report.reasons = trace.reasons;
  attachment(trace, report);
  unseen_processes(trace, report);
  environment(trace, report);
  captures(trace, timelines, report);
  skipped(timelines, report);
  regions(timelines, patterns, report);
  not_compared(timelines, report);
  subject(trace, report);
  refused_by_framework(timelines, report);
  const bool twice = std::any_of(report.coverage.regions.begin(), report.coverage.regions.end(),
                                 [](const auto& region) { return region.occurrences >= 2; });
  if (report.coverage.captures_completed > 0 || judged_built_graphs(timelines))
    report.coverage.kind = reports::CoverageKind::capture;
  else if (twice)
    report.coverage.kind = reports::CoverageKind::eager;
}

}  // namespace capgate::analysis
