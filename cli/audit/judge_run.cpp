#include "cli/audit/judge_run.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/audit/deaths/killed_processes.h"
#include "cli/audit/driver_probe.h"
#include "cli/audit/why_no_trace.h"
#include "detector/analysis/analyze.h"
#include "detector/seal/sealed_file.h"

namespace capgate::cli {
namespace {

std::vector<seal::UnseenProcess> unseen(const GpuWatch& watch) {
  std::vector<seal::UnseenProcess> found;
  for (const UnattachedProcess& process : watch.unattached()) {
    found.push_back({process.pid, process.argv0,
                     process.detector_loaded ? "the detector was loaded into it and left no trace"
                                             : "LD_PRELOAD did not reach it, or its loader ignored it"});
  }
  return found;
}

// A driver that finds no GPU loads the detector all the same, and then makes no call that could be seen.
void explain_silence(const ProgramFile& program, seal::SealedTrace& trace, const std::string& command) {
  const auto heard = [](const seal::Process& process) { return !process.trace.fact("cupti.proof").empty(); };
  if (trace.processes.empty() || std::any_of(trace.processes.begin(), trace.processes.end(), heard)) return;
  const DriverState driver = probe_driver();
  if (driver.driver == Driver::works) return;
  trace.reasons.insert(trace.reasons.begin(), why_no_trace(program, driver, command));
}

Result<Judged> judged(const Result<seal::SealedTrace>& trace, std::string not_kept) {
  if (!trace) return Error{trace.error()};
  return Judged{analysis::analyze(*trace), std::move(not_kept)};
}

}  // namespace

seal::SealInput seal_input(const AuditOptions& options, const ProgramFile& program, const TraceFolder& folder,
                           const GpuWatch& watch, const ProgramRun& run, seal::Expectations expected,
                           const std::string& command) {
  seal::SealInput input;
  input.trace_dir = folder.path();
  input.run.argv = options.program;
  input.run.exit_code = run.exit_code;
  input.run.signal = run.signal;
  input.run.stopped_by_user = run.stopped_by_user;
  input.run.wall_s = run.wall_s;
  input.expected = std::move(expected);
  input.unseen = unseen(watch);
  if (input.unseen.empty() && traced_processes(folder.path()).empty()) {
    input.reasons.push_back(why_no_trace(program, probe_driver(), command));
  }
  return input;
}

Result<Judged> judge_run(const ProgramFile& program, const seal::SealInput& input, const ProgramRun& run,
                         const std::string& command) {
  auto sealed = seal::seal(input);
  if (!sealed) return Error{sealed.error()};
  explain_silence(program, *sealed, command);
  explain_killed(*sealed, getpid(), run.still_running);
  const std::string file = input.trace_dir + "/" + kSealedFile;
  if (const auto written = seal::write_sealed(*sealed, file); !written)
    return judged(seal::decode_sections(seal::encode_sections(*sealed), file), written.error());
  return judged(seal::read_sealed(file), "");
}

}  // namespace capgate::cli
