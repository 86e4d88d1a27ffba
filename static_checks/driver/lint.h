// The static pass from a command line's settings to a report.
#pragma once

#include "base/result.h"
#include "reports/model/report.h"
#include "static_checks/driver/explained.h"
#include "static_checks/driver/settings.h"

namespace capgate::lint {

// Figures of a run that are no part of the report: for the benchmark and for -v.
struct LintFigures {
  size_t units = 0, cached = 0;
  double analysis_cpu_s = 0;
  double parse_s = 0, analysis_s = 0, other_s = 0;  // sums over the units that were parsed in this run
  uint64_t peak_kib = 0;                            // of the largest worker
  // Calls in code that regions reach: all, those that were not analysed, and those to other projects'
  // functions.
  uint64_t calls = 0, calls_not_analysed = 0, foreign_calls = 0;
};

struct LintRun {
  reports::Report report;  // finished: verdict, ids and summary are filled
  LintFigures figures;
  Explained explained;  // what LintOptions::dump_tree and ::explain ask for
  std::string root;     // the folder that paths are shown below
};

// The error is one sentence for wrong usage and unusable input; whatever concerns single files is in the
// report.
Result<LintRun> run_lint(const LintSettings& settings);

// The worker beside the program that runs, or in libexec/capgate of its installation; the error says where it
// was looked for.
Result<std::string> find_worker();

// The folder of clang's own headers that this build was made with.
std::string default_resource_dir();

}  // namespace capgate::lint
