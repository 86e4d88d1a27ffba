// Whether CUDA could have worked at all; asked only after a run that left no trace.
#pragma once

#include <string>

namespace capgate::cli {

enum class Driver {
  works,    // a driver and at least one GPU
  missing,  // no libcuda.so.1
  no_gpu,   // a driver that finds no GPU, or CUDA_VISIBLE_DEVICES hides them all
  broken    // the driver does not start
};

struct DriverState {
  Driver driver = Driver::works;
  std::string detail;  // what the loader or the driver said
};

// Asks in a process of its own, since the driver keeps threads and memory once started.
DriverState probe_driver();

}  // namespace capgate::cli
