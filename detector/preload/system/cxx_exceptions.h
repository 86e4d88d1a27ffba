// What is thrown by C++, read without a C++ runtime of our own, by the rules of the Itanium ABI.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace capgate::preload {

// What the C++ runtime keeps of the calling thread's exceptions.
struct CxxState {
  uint64_t caught;    // header of the exception that is being handled, 0 none
  uint32_t uncaught;  // exceptions on their way
};

// Once the program's C++ runtime is known: any function of it. Cheap when called again.
void know_cxx_runtime(const void* function);

// All zero while no runtime is known.
CxxState cxx_state();

// The mangled name of a std::type_info; bytes written.
size_t cxx_type_name(uint64_t type, char* out, size_t size);

// The message of an exception whose class keeps it where it can be read without running the class's own code:
// std::runtime_error, std::logic_error, c10::Error and what is derived from them. Bytes written, 0 where
// there is none.
size_t cxx_message(uint64_t object, uint64_t type, char* out, size_t size);

}  // namespace capgate::preload
