// What tells one Python program from another: its interpreter's build does not.
#pragma once

#include <map>
#include <string>

#include "detector/trace/process_trace.h"

namespace capgate::seal {

// Facts about a process that ran Python, read from the files beside it: "commit" (of the repository that
// tracks the script), "torch" and "transformers" (their versions, when the process used them). What cannot be
// read is left out.
std::map<std::string, std::string> python_program_facts(const trace::ProcessTrace& process);

}  // namespace capgate::seal
