// One unit as one action of a build: its summary is a file, and a last action links the summaries of a
// program.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "static_checks/driver/plan.h"
#include "static_checks/driver/settings.h"
#include "static_checks/worker/job.h"

namespace capgate::lint {

// Analyses the one unit that the settings name and writes its summary to LintSettings::summary_out, and
// beside it, with ".d" behind the name, which files it was made from, as make and ninja read it. The error is
// one sentence: the unit could not be parsed, or the settings name none or several.
Result<void> summarise_unit(const LintSettings& settings);

// What --link was given.
struct Summaries {
  Plan plan;                             // the units, in the order of their files' names
  std::map<std::string, Reply> replies;  // by command_key
  LintOptions options;                   // with which all of them were made
};

// The summaries of LintSettings::summaries; "@FILE" stands for the lines of FILE.
Result<Summaries> read_summaries(const LintSettings& settings);

}  // namespace capgate::lint
