// The end of an audit: what the run left behind is sealed and judged.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/audit/gpu_watch.h"
#include "cli/audit/options.h"
#include "cli/audit/program_file.h"
#include "cli/audit/run_program.h"
#include "cli/audit/trace_folder.h"
#include "detector/seal/seal.h"
#include "reports/model/report.h"

namespace capgate::cli {

inline constexpr const char* kSealedFile = "trace.cgtrace";

// `command`: what the user typed, for the reasons that end in a command.
seal::SealInput seal_input(const AuditOptions& options, const ProgramFile& program, const TraceFolder& folder,
                           const GpuWatch& watch, const ProgramRun& run, seal::Expectations expected,
                           const std::string& command);

struct Judged {
  reports::Report report;
  std::string not_kept;  // why the sealed trace could not be written; empty: it was
};

// Judges the sealed file and not what is in memory: `capgate analyze` then says the same of it, byte for
// byte. Where the file cannot be written, as on a full disk, what it would have held is judged.
Result<Judged> judge_run(const ProgramFile& program, const seal::SealInput& input, const ProgramRun& run,
                         const std::string& command);

}  // namespace capgate::cli
