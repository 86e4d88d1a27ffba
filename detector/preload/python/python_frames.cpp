#include "detector/preload/python/python_frames.h"

#include <stdint.h>
#include <string.h>

#include "detector/preload/python/python_layout.h"

namespace capgate::preload {

PythonLayout g_python_layout;
void* g_python_code_type = nullptr;

namespace {

// The headers of each version fix these. 3.9 and 3.10 have frames that are objects; 3.11 and 3.12 keep them
// apart.
constexpr PythonLayout kOld = {.c_frame = 0,
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
constexpr PythonLayout kPython311 = {.c_frame = 56,
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
constexpr PythonLayout kPython312 = {.c_frame = 56,
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
constexpr uint64_t kMaxText = 500;

int (*g_line_of_frame)(void* frame) = nullptr;
int (*g_line_of_code)(void* code, int offset) = nullptr;

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

bool know_new(const void* runtime) {
  if (runtime == nullptr || memcmp(runtime, "xdebugpy", 8) != 0) return false;
  uint64_t words[kAsciiBytes + 1];
  memcpy(words, runtime, sizeof(words));
  if (words[kVersion] >> 16 != 0x030d || words[kFreeThreaded] != 0) return false;
  g_python_layout = {0,
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

}  // namespace

void put_python_string(PythonText& out, const void* text) {
  if (text == nullptr) {
    out.put("?");
    return;
  }
  const auto state = uint32_t(python_load(text, g_python_layout.text_state));
  const uint32_t width = state >> 2 & 7, compact = state >> 5 & 1, ascii = state >> 6 & 1;
  if (compact == 0 || (width != 1 && width != 2 && width != 4)) {
    out.put("?");
    return;
  }
  const char* data = static_cast<const char*>(text) +
                     (ascii != 0 ? g_python_layout.text_ascii : g_python_layout.text_compact);
  uint64_t length = python_load(text, g_python_layout.text_length);
  const bool cut = length > kMaxText;
  if (cut) length = kMaxText;
  for (uint64_t i = 0; i < length; ++i) {
    uint32_t c = 0;
    memcpy(&c, data + i * width, width);
    out.put_code_point(c);
  }
  if (cut) out.put("...");
}

void put_python_frame(PythonText& out, const void* code, int line) {
  out.put("  File \"");
  put_python_string(out, python_pointer(code, g_python_layout.filename));
  out.put("\", line ");
  out.put_number(line > 0 ? unsigned(line) : 0);
  out.put(" in ");
  put_python_string(out, python_pointer(code, g_python_layout.name));
  out.put('\n');
}

char* python_code(const void* frame) {
  if (g_line_of_code == nullptr) return static_cast<char*>(python_pointer(frame, g_python_layout.code));
  if (static_cast<const char*>(frame)[g_python_layout.owner] == kOwnedByC)
    return nullptr;  // the seam between two runs of the loop
  char* code = static_cast<char*>(python_pointer(frame, g_python_layout.code));
  constexpr size_t kType = 8;
  return code != nullptr && python_pointer(code, kType) == g_python_code_type ? code : nullptr;
}

void* innermost_python_frame(void* thread_state) {
  if (g_python_layout.c_frame != 0) thread_state = python_pointer(thread_state, g_python_layout.c_frame);
  return python_pointer(thread_state, g_python_layout.current_frame);
}

int python_line(void* frame) {
  if (g_line_of_code == nullptr) return g_line_of_frame(frame);
  auto* code = static_cast<char*>(python_pointer(frame, g_python_layout.code));
  const auto* instruction = static_cast<const char*>(python_pointer(frame, g_python_layout.instruction));
  return g_line_of_code(code, int(instruction - (code + g_python_layout.bytecode)));
}

int python_line_of_code(void* code, int offset) {
  return g_line_of_code != nullptr ? g_line_of_code(code, offset) : 0;
}

bool know_python_frames(const char* version, void* (*symbol)(void* context, const char* name),
                        void* context) {
  if (strncmp(version, "3.9.", 4) == 0 || strncmp(version, "3.10.", 5) == 0) {
    g_python_layout = kOld;
    g_line_of_frame = reinterpret_cast<int (*)(void*)>(symbol(context, "PyFrame_GetLineNumber"));
    return g_line_of_frame != nullptr;
  }
  if (strncmp(version, "3.11.", 5) == 0) {
    g_python_layout = kPython311;
  } else if (strncmp(version, "3.12.", 5) == 0) {
    g_python_layout = kPython312;
  } else if (strncmp(version, "3.13.", 5) != 0 || !know_new(symbol(context, "_PyRuntime"))) {
    return false;
  }
  g_line_of_code = reinterpret_cast<int (*)(void*, int)>(symbol(context, "PyCode_Addr2Line"));
  g_python_code_type = symbol(context, "PyCode_Type");
  return g_line_of_code != nullptr && g_python_code_type != nullptr;
}

size_t write_python_frames(void* thread_state, char* out, size_t size) {
  PythonText text{out, size};
  void* frame = innermost_python_frame(thread_state);
  // Only frames with code count, as in the dumper.
  for (int depth = 0; frame != nullptr; frame = python_pointer(frame, g_python_layout.back)) {
    const char* code = python_code(frame);
    if (code == nullptr) continue;
    if (depth++ == kMaxPythonFrames) {
      text.put("  ...\n");
      break;
    }
    put_python_frame(text, code, python_line(frame));
  }
  return text.used;
}

size_t python_places(void* thread_state, uint64_t* out, size_t count) {
  if (g_line_of_code == nullptr) return 0;
  size_t used = 0;
  void* frame = innermost_python_frame(thread_state);
  for (int depth = 0; frame != nullptr && depth <= kMaxPythonFrames;
       frame = python_pointer(frame, g_python_layout.back)) {
    const char* code = python_code(frame);
    if (code == nullptr) continue;
    ++depth;
    // Code may be thrown away and other code made in its place: what it is made of tells them apart.
    constexpr size_t kSize = 16, kWords = 6;
    if (used + kWords > count) return 0;
    out[used++] = reinterpret_cast<uint64_t>(code);
    out[used++] = python_load(frame, g_python_layout.instruction);
    out[used++] = python_load(code, kSize);
    out[used++] = python_load(code, g_python_layout.filename);
    out[used++] = python_load(code, g_python_layout.name);
    out[used++] = python_load(code, g_python_layout.line_table);
  }
  return used;
}

uint64_t python_site(void* thread_state) {
  if (g_line_of_code == nullptr) return 0;
  constexpr int kFrames = 6;
  uint64_t site = 0;
  void* frame = innermost_python_frame(thread_state);
  for (int depth = 0; frame != nullptr && depth < kFrames;
       frame = python_pointer(frame, g_python_layout.back)) {
    const char* code = python_code(frame);
    if (code == nullptr) continue;
    ++depth;
    // The code's address alone would do for most: the instruction lies inside it.
    site = (site ^ python_load(frame, g_python_layout.instruction)) * 0x9fb21c651e98df25u;
    site ^= site >> 29;
  }
  return site;
}

}  // namespace capgate::preload
