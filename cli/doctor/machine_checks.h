// The parts of the machine, each asked by itself. None of them starts CUDA in this process.
#pragma once

#include "cli/doctor/check.h"

namespace capgate::cli {

// The driver and its GPUs.
Check check_driver();

// Whether this user may open the GPU's devices.
Check check_devices();

// A CUDA toolkit, which an audit does without.
Check check_toolkit();

// The libraries that are loaded into the audited program, and where its trace goes.
Check check_detector();
Check check_trace_folder();

// Each libcupti that an audit would try, and which tools could hold CUPTI.
Check check_cupti();
Check check_other_tools();

// The Python that `python3` starts, and the versions of torch and of CUPTI's wheel in it.
Check check_python();

// The program that `capgate lint` parses with.
Check check_lint();

}  // namespace capgate::cli
