#include "cli/audit/deaths/killed_processes.h"

#include <fmt/format.h>

#include <algorithm>

namespace capgate::cli {
namespace {

// Exit handlers and _exit leave a record. Where the library does not stand before _exit, nothing is said.
bool was_killed(const trace::ProcessTrace& process) {
  return process.state == trace::FileState::open && process.ends.empty() && process.fact("end") == "seen" &&
         !process.fact("cupti.proof").empty();
}

}  // namespace

void explain_killed(seal::SealedTrace& trace, pid_t own_pid, const std::vector<pid_t>& still_running) {
  // Whoever stops a run stops its processes, and the program itself is judged by how it ended.
  if (trace.run.stopped_by_user) return;
  for (const auto& process : trace.processes) {
    const auto& t = process.trace;
    const bool program = static_cast<pid_t>(t.ppid) == own_pid;
    const bool runs = std::find(still_running.begin(), still_running.end(), static_cast<pid_t>(t.pid)) !=
                      still_running.end();
    if (!was_killed(t) || runs || (program && trace.run.signal)) continue;
    trace.reasons.push_back({fmt::format("process {} ({}) used CUDA and was killed", t.pid, t.fact("argv0")),
                             "find out who killed it (dmesg lists what the system kills when memory runs "
                             "out), then audit again"});
  }
}

}  // namespace capgate::cli
