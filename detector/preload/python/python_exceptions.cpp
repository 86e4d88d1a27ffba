#include "detector/preload/python/python_exceptions.h"

#include <string.h>

#include "detector/preload/python/python_layout.h"
#include "detector/preload/system/safe_read.h"

namespace capgate::preload {
namespace {

// Offsets, besides those of PythonLayout.
struct Layout {
  size_t handled;       // of the thread state: pointer to the innermost entry of exceptions in handling
  size_t value, outer;  // of that entry: the exception, the next entry outwards
  size_t traceback;     // of an exception
  size_t frame;         // of a frame object: what holds code and locals; 0: the object itself does
  size_t locals;        // of that
};
constexpr Layout kOld9 = {144, 8, 24, 32, 0, 360};
constexpr Layout kOld10 = {144, 8, 24, 32, 0, 352};
constexpr Layout kPython311 = {120, 0, 8, 40, 24, 72};
constexpr Layout kPython312 = {104, 0, 8, 40, 24, 72};
constexpr Layout kPython313 = {120, 0, 8, 40, 24, 72};

// The same in every version.
constexpr size_t kType = 8, kArgs = 24;
constexpr size_t kTypeName = 24, kTypeFlags = 168;
constexpr uint64_t kIsString = uint64_t{1} << 28, kIsException = uint64_t{1} << 30;
constexpr size_t kTupleSize = 16, kTupleItems = 24;
constexpr size_t kNext = 16, kFrame = 24, kInstruction = 32, kLine = 36;  // of a traceback's entry

constexpr int kMostHandled = 64;      // entries of exceptions in handling
constexpr int kMostEntries = 2000;    // of a traceback: recursion ends at a thousand
constexpr int kNearFrames = 12;       // an __exit__ that ends a capture is not far out
constexpr uint64_t kMostText = 4096;  // characters of a message

bool g_known = false;
Layout g_layout;
uint64_t g_traceback_type = 0, g_frame_type = 0, g_tuple_type = 0, g_code_type = 0;

bool load(uint64_t object, size_t offset, uint64_t* out) {
  return object != 0 && read_memory(object + offset, out);
}

bool has_type(uint64_t object, uint64_t type) {
  uint64_t found = 0;
  return load(object, kType, &found) && found == type;
}

bool has_flag(uint64_t object, uint64_t flag) {
  uint64_t type = 0, flags = 0;
  return load(object, kType, &type) && load(type, kTypeFlags, &flags) && (flags & flag) != 0;
}

void put_utf8(PythonText& out, uint32_t c) {
  if (c == 0) return;
  if (c < 0x80) {
    out.put(char(c));
    return;
  }
  char bytes[4];
  size_t n = 0;
  if (c < 0x800) {
    bytes[n++] = char(0xc0 | c >> 6);
  } else if (c < 0x10000) {
    if (c >= 0xd800 && c < 0xe000) c = 0xfffd;  // half a surrogate pair is no character
    bytes[n++] = char(0xe0 | c >> 12);
    bytes[n++] = char(0x80 | (c >> 6 & 0x3f));
  } else {
    bytes[n++] = char(0xf0 | (c >> 18 & 7));
    bytes[n++] = char(0x80 | (c >> 12 & 0x3f));
    bytes[n++] = char(0x80 | (c >> 6 & 0x3f));
  }
  bytes[n++] = char(0x80 | (c & 0x3f));
  if (out.used + n > out.size) {
    out.size = out.used;  // cut between characters, not inside one
    return;
  }
  for (size_t i = 0; i < n; ++i) out.put(bytes[i]);
}

// The message: the first string that the exception was made with.
size_t read_message(uint64_t exception, char* out, size_t size) {
  uint64_t args = 0, count = 0;
  if (!load(exception, kArgs, &args) || !has_type(args, g_tuple_type) || !load(args, kTupleSize, &count))
    return 0;
  for (uint64_t i = 0; i < count && i < 4; ++i)
    if (const uint64_t text = python_tuple_item(args, i); has_flag(text, kIsString))
      return read_python_string(text, out, size);
  return 0;
}

bool read_type(uint64_t exception, char* out, size_t size) {
  uint64_t type = 0, name = 0;
  return has_flag(exception, kIsException) && load(exception, kType, &type) && load(type, kTypeName, &name) &&
         read_text(name, out, size) > 0;
}

// What holds a frame object's code and locals.
uint64_t inner_frame(uint64_t frame) {
  if (!has_type(frame, g_frame_type)) return 0;
  if (g_layout.frame == 0) return frame;
  uint64_t inner = 0;
  return load(frame, g_layout.frame, &inner) ? inner : 0;
}

struct Entry {
  uint64_t frame, code;
  int line;
};

bool read_entry(uint64_t traceback, Entry* out, uint64_t* next) {
  if (!has_type(traceback, g_traceback_type)) return false;
  struct {
    uint64_t next, frame;
    int32_t instruction, line;
  } fields;
  static_assert(offsetof(decltype(fields), frame) == kFrame - kNext);
  static_assert(offsetof(decltype(fields), instruction) == kInstruction - kNext);
  static_assert(offsetof(decltype(fields), line) == kLine - kNext);
  if (!read_memory(traceback + kNext, &fields)) return false;
  *next = fields.next;
  out->frame = inner_frame(fields.frame);
  if (out->frame == 0 || !load(out->frame, g_python_layout.code, &out->code) ||
      !has_type(out->code, g_code_type))
    return false;
  out->line = fields.line > 0 ? fields.line
                              : python_line_of_code(reinterpret_cast<void*>(out->code), fields.instruction);
  return true;
}

// From the raising line outwards, then whoever called the outermost function that it has left or reached.
bool write_stack(void* thread_state, uint64_t traceback, PythonText& out) {
  Entry entries[kMaxPythonFrames];
  int count = 0;
  uint64_t outermost = 0;
  for (uint64_t at = traceback; at != 0; ++count) {
    if (count == kMostEntries) return false;
    Entry& entry = entries[count % kMaxPythonFrames];  // the innermost are kept
    if (!read_entry(at, &entry, &at)) return false;
    if (count == 0) outermost = entry.frame;
  }
  const int kept = count < kMaxPythonFrames ? count : kMaxPythonFrames;
  for (int i = 0; i < kept; ++i) {
    const Entry& entry = entries[(count - 1 - i) % kMaxPythonFrames];
    put_python_frame(out, reinterpret_cast<const void*>(entry.code), entry.line);
  }
  if (count > kept) return true;
  void* frame = innermost_python_frame(thread_state);
  int depth = 0;
  while (frame != nullptr && reinterpret_cast<uint64_t>(frame) != outermost && depth++ < kMaxPythonFrames)
    frame = python_pointer(frame, g_python_layout.back);
  if (frame == nullptr || reinterpret_cast<uint64_t>(frame) != outermost) return true;
  for (frame = python_pointer(frame, g_python_layout.back); frame != nullptr && depth++ < kMaxPythonFrames;
       frame = python_pointer(frame, g_python_layout.back))
    if (const char* code = python_code(frame)) put_python_frame(out, code, python_line(frame));
  return true;
}

// def __exit__(self, type, value, traceback), or (self, *args) with all three in a tuple.
bool was_given(uint64_t frame, uint64_t exception) {
  uint64_t arguments[3];
  if (!read_memory(frame + g_layout.locals, &arguments)) return false;
  return arguments[2] == exception || python_tuple_item(arguments[1], 1) == exception;
}

bool leaves_a_with_block(void* thread_state, uint64_t exception) {
  void* frame = innermost_python_frame(thread_state);
  for (int depth = 0; frame != nullptr && depth < kNearFrames;
       ++depth, frame = python_pointer(frame, g_python_layout.back)) {
    const char* code = python_code(frame);
    if (code == nullptr) continue;
    char name[16];
    const size_t n = read_python_string(python_load(code, g_python_layout.name), name, sizeof(name));
    if (n == sizeof("__exit__") - 1 && memcmp(name, "__exit__", n) == 0 &&
        was_given(reinterpret_cast<uint64_t>(frame), exception))
      return true;
  }
  return false;
}

}  // namespace

bool know_python_exceptions(const char* version, void* (*symbol)(void* context, const char* name),
                            void* context) {
  g_known = false;
  if (strncmp(version, "3.9.", 4) == 0) {
    g_layout = kOld9;
  } else if (strncmp(version, "3.10.", 5) == 0) {
    g_layout = kOld10;
  } else if (strncmp(version, "3.11.", 5) == 0) {
    g_layout = kPython311;
  } else if (strncmp(version, "3.12.", 5) == 0) {
    g_layout = kPython312;
  } else if (strncmp(version, "3.13.", 5) == 0) {
    g_layout = kPython313;
  } else {
    return false;
  }
  const auto type = [&](const char* name) { return reinterpret_cast<uint64_t>(symbol(context, name)); };
  g_traceback_type = type("PyTraceBack_Type");
  g_frame_type = type("PyFrame_Type");
  g_tuple_type = type("PyTuple_Type");
  g_code_type = type("PyCode_Type");
  g_known = g_traceback_type != 0 && g_frame_type != 0 && g_tuple_type != 0 && g_code_type != 0;
  return g_known;
}

void handled_python_exceptions(const void* thread_state, uint64_t* out, int most) {
  if (!g_known || thread_state == nullptr) return;
  uint64_t entry = 0, value = 0;
  if (!load(reinterpret_cast<uint64_t>(thread_state), g_layout.handled, &entry)) return;
  // A generator that handles nothing has an entry of its own, which is empty.
  for (int i = 0, found = 0; entry != 0 && i < kMostHandled && found < most; ++i) {
    if (!load(entry, g_layout.value, &value)) return;
    if (has_flag(value, kIsException)) out[found++] = value;
    if (!load(entry, g_layout.outer, &entry)) return;
  }
}

bool read_python_exception(void* thread_state, uint64_t exception, PythonException* out) {
  uint64_t traceback = 0;
  if (!g_known || !read_type(exception, out->type, sizeof(out->type)) ||
      !load(exception, g_layout.traceback, &traceback))
    return false;
  out->text_bytes = read_message(exception, out->text, sizeof(out->text));
  PythonText stack{out->stack, sizeof(out->stack)};
  if (!write_stack(thread_state, traceback, stack)) stack.used = 0;
  out->stack_bytes = stack.used;
  out->left_with = leaves_a_with_block(thread_state, exception);
  return true;
}

uint64_t python_tuple_item(uint64_t tuple, size_t index) {
  uint64_t size = 0, item = 0;
  if (!has_type(tuple, g_tuple_type) || !load(tuple, kTupleSize, &size) || index >= size) return 0;
  return load(tuple, kTupleItems + index * sizeof(uint64_t), &item) ? item : 0;
}

uint64_t python_local(const void* frame, size_t index) {
  uint64_t value = 0;
  return g_known &&
                 load(reinterpret_cast<uint64_t>(frame), g_layout.locals + index * sizeof(uint64_t), &value)
             ? value
             : 0;
}

size_t read_python_string(uint64_t text, char* out, size_t size) {
  uint64_t state = 0, length = 0;
  if (!load(text, g_python_layout.text_state, &state) || !load(text, g_python_layout.text_length, &length))
    return 0;
  const uint32_t width = uint32_t(state) >> 2 & 7, compact = uint32_t(state) >> 5 & 1,
                 ascii = uint32_t(state) >> 6 & 1;
  if (compact == 0 || (width != 1 && width != 2 && width != 4)) return 0;
  if (length > kMostText) length = kMostText;
  uint64_t at = text + (ascii != 0 ? g_python_layout.text_ascii : g_python_layout.text_compact);
  PythonText written{out, size};
  while (length > 0) {
    char piece[256];
    const uint64_t n = length < sizeof(piece) / width ? length : sizeof(piece) / width;
    if (!read_memory(at, piece, n * width)) return 0;
    for (uint64_t i = 0; i < n; ++i) {
      uint32_t c = 0;
      memcpy(&c, piece + i * width, width);
      put_utf8(written, c);
    }
    at += n * width;
    length -= n;
  }
  return written.used;
}

}  // namespace capgate::preload
