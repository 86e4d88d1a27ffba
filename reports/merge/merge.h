// Several reports on one program become one: a run seen by the detector, its sources seen by lint, a rank
// each.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "reports/model/report.h"

namespace capgate::reports {

struct MergeInput {
  Report report;
  std::string name;    // for errors: the file
  std::string digest;  // SHA-256 of the file
};

// The same whatever the order of the inputs. Two reports that speak of different builds, sources, settings or
// machines are an error that names both, and so are an audit and a lint without a source in common. The same
// file twice counts once.
//
// The same rule, file, function and callee within two lines is one violation with the evidence of all: counts
// are added, processes united. It stays suppressed if every report of one kind of evidence suppressed it.
Result<Report> merge(std::vector<MergeInput> inputs, const std::string& tool_version);

}  // namespace capgate::reports
