// After a run: from the raw traces that its processes left to one file that can be judged anywhere.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "detector/seal/sealed_trace.h"

namespace capgate::seal {

struct SealInput {
  std::string trace_dir;  // every file in it that ends in .cgraw is read
  std::string tool_version;
  reports::Run run;
  Expectations expected;
  std::vector<UnseenProcess> unseen;
  std::vector<reports::Reason> reasons;  // end up in the report as they are
};

// Reads the raw traces, names every address in them, and gathers the source lines and comments that the
// report may quote. Runs on the machine that ran the program: it opens the modules and sources the trace
// names. A raw trace that cannot be read does not stop it; it ends up in SealedTrace::unreadable.
Result<SealedTrace> seal(const SealInput& input);

}  // namespace capgate::seal
