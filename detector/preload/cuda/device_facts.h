// The driver, the CUDA runtime and the GPUs, as the trace records them.
#pragma once

namespace capgate::preload {

struct ThreadState;

// Looks up the runtime's version function, while the loader's lock may be taken.
void find_runtime();

// Once per process, when the driver is up and no capture is open; later calls do nothing.
void write_device_facts(ThreadState& thread);

}  // namespace capgate::preload
