// The objects mapped into the process, for symbolising after it is gone.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace capgate::preload {

struct ThreadState;

// Writes a record for every object mapped since the last call. Cheap when nothing was loaded in between.
void refresh_modules(ThreadState& thread);

// True once after a Python interpreter's library was mapped: looking it up takes the loader's lock, which
// must not be taken now and then inside CUDA.
bool python_was_mapped();

// True for an address of an object's own data (its constants and globals).
bool in_module(uint64_t address);

// The code of the object that holds `address`; false while that object is not known.
bool code_range(uint64_t address, uint64_t* low, uint64_t* high);

// True for an address of this library's code, or of CUPTI's, which calls it.
bool in_watching_code(uint64_t ip);
bool in_own_code(uint64_t ip);

// Calls `visit` with the path of each mapped object until it returns true. Nothing may be loaded meanwhile.
bool find_module(bool (*visit)(const char* path, void* data), void* data);

// The object that holds `ip`, its path cut to `size`, and the address as the file has it. False: none does.
bool locate_address(uint64_t ip, char* path, size_t size, uint64_t* file_address);

// "prog+0x12c4" for an address, or empty. `out` holds `size` bytes.
void describe_address(uint64_t ip, char* out, size_t size);

}  // namespace capgate::preload
