// The interpreter's own objects, as far as stacks and exceptions are read from them. Known layouts: 3.9
// to 3.13.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/hex.h"

namespace capgate::preload {

// Offsets inside the interpreter's objects. 0: has none.
struct PythonLayout {
  size_t
      c_frame;  // of the thread state: pointer to what holds current_frame; 0: the thread state itself does
  size_t current_frame;
  size_t back, code;   // of a frame
  size_t instruction;  // of a frame: pointer to the current instruction
  size_t owner;        // of a frame: who owns it
  size_t bytecode;     // of a code object: its first instruction
  size_t filename, name, line_table;
  size_t text_state, text_length, text_ascii,
      text_compact;  // of a string: fields, then where its characters begin
};

inline constexpr int kMaxPythonFrames = 100;

extern PythonLayout g_python_layout;
extern void* g_python_code_type;  // null where frames are objects (before 3.11)

inline uint64_t python_load(const void* base, size_t offset) {
  uint64_t value;
  memcpy(&value, static_cast<const char*>(base) + offset, sizeof(value));
  return value;
}

inline void* python_pointer(const void* base, size_t offset) {
  return reinterpret_cast<void*>(python_load(base, offset));
}

// Appends to a buffer; what does not fit is cut.
struct PythonText {
  char* data;
  size_t size, used = 0;
  void put(char c) {
    if (used < size) data[used++] = c;
  }
  void put(const char* text) {
    while (*text != 0) put(*text++);
  }
  void put_number(unsigned value) {
    if (value >= 10) put_number(value / 10);
    put(char('0' + value % 10));
  }
  void put_hex(uint32_t value, int digits) {
    while (digits-- > 0) put(hex_digit(value >> (4 * digits)));
  }
  // As the interpreter's own dumper writes it.
  void put_code_point(uint32_t c) {
    if (c >= ' ' && c <= '~') {
      put(char(c));
    } else if (c <= 0xff) {
      put("\\x"), put_hex(c, 2);
    } else if (c <= 0xffff) {
      put("\\u"), put_hex(c, 4);
    } else {
      put("\\U"), put_hex(c, 8);
    }
  }
};

// A string of names: they are compact in every version. What is not reads as "?".
void put_python_string(PythonText& out, const void* text);

// `  File "x.py", line 3 in f`, as the dumper writes it.
void put_python_frame(PythonText& out, const void* code, int line);

// The frame's code, or null for one that runs no line of Python.
char* python_code(const void* frame);

void* innermost_python_frame(void* thread_state);

// The line that the frame is at; only of a frame that has code.
int python_line(void* frame);

// The line of the instruction at `offset` bytes into the code; 0 where that cannot be asked.
int python_line_of_code(void* code, int offset);

}  // namespace capgate::preload
