#include "detector/preload/python/python_exceptions.h"

#include <string.h>

#include "detector/preload/python/python_layout.h"
#include "detector/preload/python/python_values.h"
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
constexpr size_t kArgs = 24;
constexpr size_t kTypeName = 24;
constexpr uint64_t kIsException = uint64_t{1} << 30;
constexpr size_t kNext = 16, kFrame = 24, kInstruction = 32, kLine = 36;  // of a traceback's entry

constexpr int kMostHandled = 64;    // entries of exceptions in handling
constexpr int kMostEntries = 2000;  // of a traceback: recursion ends at a thousand
constexpr int kNearFrames = 12;     // an __exit__ that ends a capture is not far out

bool g_known = false;
Layout g_layout;
uint64_t g_traceback_type = 0, g_frame_type = 0, g_code_type = 0;

// The message: the first string that the exception was made with. Without one, its only argument: a KeyError
// is made with the key.
size_t read_message(uint64_t exception, char* out, size_t size) {
  uint64_t args = 0, count = 0;
  if (!python_field(exception, kArgs, &args) || !is_python_tuple(args, &count)) return 0;
  for (uint64_t i = 0; i < count && i < 4; ++i)
    if (const uint64_t text = python_tuple_item(args, i); is_python_string(text))
      return read_python_string(text, out, size);
  return count == 1 ? read_python_value(python_tuple_item(args, 0), out, size) : 0;
}

bool read_type(uint64_t exception, char* out, size_t size) {
  uint64_t type = 0, name = 0;
  return has_python_flag(exception, kIsException) && python_field(exception, kPythonType, &type) &&
         python_field(type, kTypeName, &name) && read_text(name, out, size) > 0;
}

// What holds a frame object's code and locals.
uint64_t inner_frame(uint64_t frame) {
  if (!has_python_type(frame, g_frame_type)) return 0;
  if (g_layout.frame == 0) return frame;
  uint64_t inner = 0;
  return python_field(frame, g_layout.frame, &inner) ? inner : 0;
}

struct Entry {
  uint64_t frame, code;
  int line;
};

bool read_entry(uint64_t traceback, Entry* out, uint64_t* next) {
  if (!has_python_type(traceback, g_traceback_type)) return false;
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
  if (out->frame == 0 || !python_field(out->frame, g_python_layout.code, &out->code) ||
      !has_python_type(out->code, g_code_type))
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
  const bool values = know_python_values(version, symbol, context);
  g_traceback_type = type("PyTraceBack_Type");
  g_frame_type = type("PyFrame_Type");
  g_code_type = type("PyCode_Type");
  g_known = g_traceback_type != 0 && g_frame_type != 0 && values && g_code_type != 0;
  return g_known;
}

void handled_python_exceptions(const void* thread_state, uint64_t* out, int most) {
  if (!g_known || thread_state == nullptr) return;
  uint64_t entry = 0, value = 0;
  if (!python_field(reinterpret_cast<uint64_t>(thread_state), g_layout.handled, &entry)) return;
  // A generator that handles nothing has an entry of its own, which is empty.
  for (int i = 0, found = 0; entry != 0 && i < kMostHandled && found < most; ++i) {
    if (!python_field(entry, g_layout.value, &value)) return;
    if (has_python_flag(value, kIsException)) out[found++] = value;
    if (!python_field(entry, g_layout.outer, &entry)) return;
  }
}

bool read_python_exception(void* thread_state, uint64_t exception, PythonException* out) {
  uint64_t traceback = 0;
  if (!g_known || !read_type(exception, out->type, sizeof(out->type)) ||
      !python_field(exception, g_layout.traceback, &traceback))
    return false;
  out->text_bytes = read_message(exception, out->text, sizeof(out->text));
  PythonText stack{out->stack, sizeof(out->stack)};
  if (!write_stack(thread_state, traceback, stack)) stack.used = 0;
  out->stack_bytes = stack.used;
  out->left_with = leaves_a_with_block(thread_state, exception);
  return true;
}

uint64_t python_local(const void* frame, size_t index) {
  uint64_t value = 0;
  return g_known && python_field(reinterpret_cast<uint64_t>(frame),
                                 g_layout.locals + index * sizeof(uint64_t), &value)
             ? value
             : 0;
}

}  // namespace capgate::preload
