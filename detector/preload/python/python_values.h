// Strings, whole numbers and tuples of the interpreter, read by what the kernel copies of them: an object
// that is not as expected costs the answer, never the program.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace capgate::preload {

// After know_python_frames(). False: the interpreter does not name its tuple.
bool know_python_values(const char* version, void* (*symbol)(void* context, const char* name), void* context);

inline constexpr size_t kPythonType = 8;  // of each object: its type, in every version

// The word at `offset` of an object.
bool python_field(uint64_t object, size_t offset, uint64_t* out);

bool has_python_type(uint64_t object, uint64_t type);
bool has_python_flag(uint64_t object, uint64_t flag);  // of its type's tp_flags

bool is_python_string(uint64_t object);
bool is_python_tuple(uint64_t object, uint64_t* items);

// Item `index` of a tuple; 0 where there is none.
uint64_t python_tuple_item(uint64_t tuple, size_t index);

// A string's characters as UTF-8, cut to `size`; bytes written.
size_t read_python_string(uint64_t text, char* out, size_t size);

// As repr() writes a whole number of at most 64 bits, True or False, or a tuple of those and of strings,
// whose quotes and control characters stay as they are. Bytes written; 0 of anything else.
size_t read_python_value(uint64_t object, char* out, size_t size);

}  // namespace capgate::preload
