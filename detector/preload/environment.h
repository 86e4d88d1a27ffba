// What the trace tells about the process and the machine.
#pragma once

namespace capgate::preload {

struct ThreadState;

// At the start: names, settings, variables that change what CUDA does.
void write_process_facts(ThreadState& thread);

// Looks up the runtime's version function, while the loader's lock may be taken.
void find_runtime();

// Once the driver is up: driver, runtime, devices.
void write_device_facts(ThreadState& thread);

}  // namespace capgate::preload
