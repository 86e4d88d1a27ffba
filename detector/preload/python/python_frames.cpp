#include "detector/preload/python/python_frames.h"

#include <stdint.h>
#include <string.h>

namespace capgate::preload {
namespace {

// Offsets inside the interpreter's objects. 0: has none.
struct Layout {
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

// The headers of each version fix these. 3.9 and 3.10 have frames that are objects; 3.11 and 3.12 keep them
// apart.
constexpr Layout kOld = {.c_frame = 0,
                         .current_frame = 24,
                         .back = 24,
                         .code = 32,
                         .instruction = 0,
                         .owner = 0,
                         .bytecode = 0,
                         .filename = 104,
                         .name = 112,
                         .line_table = 0,
                         .text_state = 32,
                         .text_length = 16,
                         .text_ascii = 48,
                         .text_compact = 72};
constexpr Layout kPython311 = {.c_frame = 56,
                               .current_frame = 8,
                               .back = 48,
                               .code = 32,
                               .instruction = 56,
                               .owner = 69,
                               .bytecode = 184,
                               .filename = 112,
                               .name = 120,
                               .line_table = 136,
                               .text_state = 32,
                               .text_length = 16,
                               .text_ascii = 48,
                               .text_compact = 72};
constexpr Layout kPython312 = {.c_frame = 56,
                               .current_frame = 0,
                               .back = 8,
                               .code = 0,
                               .instruction = 56,
                               .owner = 70,
                               .bytecode = 192,
                               .filename = 112,
                               .name = 120,
                               .line_table = 136,
                               .text_state = 32,
                               .text_length = 16,
                               .text_ascii = 40,
                               .text_compact = 56};

constexpr char kOwnedByC = 3;
constexpr int kMaxFrames = 100;
constexpr uint64_t kMaxText = 500;

Layout g_layout;
int (*g_line_of_frame)(void* frame) = nullptr;
int (*g_line_of_code)(void* code, int offset) = nullptr;
void* g_code_type = nullptr;

// The table that 3.13 keeps at the start of _PyRuntime for tools: 64-bit words after an 8-byte cookie.
enum Word {
  kVersion = 1,
  kFreeThreaded = 2,
  kCurrentFrame = 23,
  kBack = 29,
  kExecutable = 30,
  kInstruction = 31,
  kOwner = 33,
  kFilename = 35,
  kName = 36,
  kLineTable = 38,
  kBytecode = 43,
  kTextState = 68,
  kTextLength = 69,
  kAsciiBytes = 70,
};

uint64_t load(const void* base, size_t offset) {
  uint64_t value;
  memcpy(&value, static_cast<const char*>(base) + offset, sizeof(value));
  return value;
}

void* pointer(const void* base, size_t offset) {
  return reinterpret_cast<void*>(load(base, offset));
}

// Appends to a buffer; what does not fit is cut.
struct Out {
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
    while (digits-- > 0) put("0123456789abcdef"[value >> (4 * digits) & 15]);
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

// Strings of names are compact in every version.
void put_string(Out& out, const void* text) {
  if (text == nullptr) {
    out.put("?");
    return;
  }
  const auto state = uint32_t(load(text, g_layout.text_state));
  const uint32_t width = state >> 2 & 7, compact = state >> 5 & 1, ascii = state >> 6 & 1;
  if (compact == 0 || (width != 1 && width != 2 && width != 4)) {
    out.put("?");
    return;
  }
  const char* data =
      static_cast<const char*>(text) + (ascii != 0 ? g_layout.text_ascii : g_layout.text_compact);
  uint64_t length = load(text, g_layout.text_length);
  const bool cut = length > kMaxText;
  if (cut) length = kMaxText;
  for (uint64_t i = 0; i < length; ++i) {
    uint32_t c = 0;
    memcpy(&c, data + i * width, width);
    out.put_code_point(c);
  }
  if (cut) out.put("...");
}

void put_frame(Out& out, const void* code, int line) {
  out.put("  File \"");
  put_string(out, pointer(code, g_layout.filename));
  out.put("\", line ");
  out.put_number(line > 0 ? unsigned(line) : 0);
  out.put(" in ");
  put_string(out, pointer(code, g_layout.name));
  out.put('\n');
}

bool know_new(const void* runtime) {
  if (runtime == nullptr || memcmp(runtime, "xdebugpy", 8) != 0) return false;
  uint64_t words[kAsciiBytes + 1];
  memcpy(words, runtime, sizeof(words));
  if (words[kVersion] >> 16 != 0x030d || words[kFreeThreaded] != 0) return false;
  g_layout = {0,
              words[kCurrentFrame],
              words[kBack],
              words[kExecutable],
              words[kInstruction],
              words[kOwner],
              words[kBytecode],
              words[kFilename],
              words[kName],
              words[kLineTable],
              words[kTextState],
              words[kTextLength],
              words[kAsciiBytes],
              words[kAsciiBytes] + 16};
  return true;
}

// The frame's code, or null for one that runs no line of Python.
char* code_of(const void* frame) {
  if (static_cast<const char*>(frame)[g_layout.owner] == kOwnedByC)
    return nullptr;  // the seam between two runs of the loop
  char* code = static_cast<char*>(pointer(frame, g_layout.code));
  constexpr size_t kType = 8;
  return code != nullptr && pointer(code, kType) == g_code_type ? code : nullptr;
}

void* innermost_frame(void* thread_state) {
  if (g_layout.c_frame != 0) thread_state = pointer(thread_state, g_layout.c_frame);
  return pointer(thread_state, g_layout.current_frame);
}

}  // namespace

bool know_python_frames(const char* version, void* (*symbol)(void* context, const char* name),
                        void* context) {
  if (strncmp(version, "3.9.", 4) == 0 || strncmp(version, "3.10.", 5) == 0) {
    g_layout = kOld;
    g_line_of_frame = reinterpret_cast<int (*)(void*)>(symbol(context, "PyFrame_GetLineNumber"));
    return g_line_of_frame != nullptr;
  }
  if (strncmp(version, "3.11.", 5) == 0) {
    g_layout = kPython311;
  } else if (strncmp(version, "3.12.", 5) == 0) {
    g_layout = kPython312;
  } else if (strncmp(version, "3.13.", 5) != 0 || !know_new(symbol(context, "_PyRuntime"))) {
    return false;
  }
  g_line_of_code = reinterpret_cast<int (*)(void*, int)>(symbol(context, "PyCode_Addr2Line"));
  g_code_type = symbol(context, "PyCode_Type");
  return g_line_of_code != nullptr && g_code_type != nullptr;
}

size_t write_python_frames(void* thread_state, char* out, size_t size) {
  Out text{out, size};
  void* frame = innermost_frame(thread_state);
  for (int depth = 0; frame != nullptr; frame = pointer(frame, g_layout.back)) {
    if (depth++ == kMaxFrames) {
      text.put("  ...\n");
      break;
    }
    if (g_line_of_code == nullptr) {
      put_frame(text, pointer(frame, g_layout.code), g_line_of_frame(frame));
      continue;
    }
    char* code = code_of(frame);
    if (code == nullptr) continue;
    const auto* instruction = static_cast<const char*>(pointer(frame, g_layout.instruction));
    put_frame(text, code, g_line_of_code(code, int(instruction - (code + g_layout.bytecode))));
  }
  return text.used;
}

size_t python_places(void* thread_state, uint64_t* out, size_t count) {
  if (g_line_of_code == nullptr) return 0;
  size_t used = 0;
  void* frame = innermost_frame(thread_state);
  for (int depth = 0; frame != nullptr && depth <= kMaxFrames; frame = pointer(frame, g_layout.back)) {
    ++depth;
    const char* code = code_of(frame);
    if (code == nullptr) continue;
    // Code may be thrown away and other code made in its place: what it is made of tells them apart.
    constexpr size_t kSize = 16, kWords = 6;
    if (used + kWords > count) return 0;
    out[used++] = reinterpret_cast<uint64_t>(code);
    out[used++] = load(frame, g_layout.instruction);
    out[used++] = load(code, kSize);
    out[used++] = load(code, g_layout.filename);
    out[used++] = load(code, g_layout.name);
    out[used++] = load(code, g_layout.line_table);
  }
  return used;
}

}  // namespace capgate::preload
