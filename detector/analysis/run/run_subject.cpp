#include "detector/analysis/run/run_subject.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "base/counted.h"
#include "detector/analysis/run/process_facts.h"
#include "detector/trace/python_script.h"

namespace capgate::analysis {
namespace {

using reports::Report;

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

}  // namespace

void describe_environment(const seal::SealedTrace& trace, Report& report) {
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
          key.starts_with(kGpu) ? whole_number(std::string_view(key).substr(kGpu.size())) : std::nullopt;
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
        report.coverage.not_checked.push_back(counted(record.r.value, "event") + " of " + process_name(t) +
                                              " left out because the trace was full (" +
                                              std::string(name.substr(kThinned.size())) + ")");
    }
    if (!t.fact("stacks").empty())
      report.coverage.not_checked.push_back("C++ lines of " + process_name(t) + ": " +
                                            std::string(t.fact("stacks")));
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

void describe_subject(const seal::SealedTrace& trace, Report& report) {
  auto& subject = report.subject;
  if (!trace.run.argv.empty())
    subject.program = std::filesystem::path(trace.run.argv.front()).filename().string();
  for (const auto& process : trace.processes)
    if (subject.build_id.empty() && !process.build_id.empty()) {
      subject.build_id = process.build_id;
      // `env NAME=1 ./main` and a script run main: it is what used CUDA.
      if (const auto name = std::filesystem::path(process.trace.fact("argv0")).filename().string();
          !name.empty())
        subject.program = name;
    }
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

}  // namespace capgate::analysis
