// Reads memory that may not be there: the kernel copies it and reports where it could not.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace capgate::preload {

// False: not all of it can be read, or the kernel refuses to copy (a container may forbid the call).
bool read_memory(uint64_t address, void* out, size_t bytes);

template <class T>
bool read_memory(uint64_t address, T* out) {
  return read_memory(address, static_cast<void*>(out), sizeof(T));
}

// A text that ends in 0, cut to `size`. Empty where it cannot be read. How long it is.
size_t read_text(uint64_t address, char* out, size_t size);

// Whether the kernel copies at all.
bool can_read_memory();

}  // namespace capgate::preload
