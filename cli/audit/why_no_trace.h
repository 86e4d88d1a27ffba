// Why a run left no trace at all, with the command that would make it leave one.
#pragma once

#include <optional>
#include <string>

#include "cli/audit/driver_probe.h"
#include "cli/audit/program_file.h"
#include "reports/model/report.h"

namespace capgate::cli {

reports::Reason why_no_trace(const ProgramFile& program, const DriverState& driver,
                             const std::string& command);

}  // namespace capgate::cli
