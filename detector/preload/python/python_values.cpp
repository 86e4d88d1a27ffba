#include "detector/preload/python/python_values.h"

#include <string.h>

#include "detector/preload/python/python_layout.h"
#include "detector/preload/system/safe_read.h"

namespace capgate::preload {
namespace {

// The same in every version.
constexpr size_t kTypeFlags = 168;
constexpr uint64_t kIsString = uint64_t{1} << 28;
constexpr size_t kTupleSize = 16, kTupleItems = 24;
constexpr size_t kIntTag = 16, kIntDigits = 24;

constexpr uint64_t kMostText = 4096;  // characters of a string

uint64_t g_tuple_type = 0;
uint64_t g_int_type = 0, g_bool_type = 0;  // 0: the interpreter does not name it, and no object has it
// Before 3.12 the tag of an int is its number of digits with its sign; since then three bits for the sign,
// then the number.
bool g_int_is_signed_size = false;

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

// A whole number of at most 64 bits, in decimal.
bool put_int(PythonText& out, uint64_t object) {
  constexpr int kDigitBits = 30, kMostDigits = 3;
  uint64_t tag = 0;
  if (!python_field(object, kIntTag, &tag)) return false;
  uint64_t digits = tag >> 3;
  bool negative = (tag & 3) == 2;
  if (g_int_is_signed_size) {
    negative = static_cast<int64_t>(tag) < 0;
    digits = negative ? 0 - tag : tag;
  }
  if (digits > kMostDigits) return false;
  uint64_t value = 0;
  for (uint64_t i = 0; i < digits; ++i) {
    uint32_t digit = 0;
    if (!read_memory(object + kIntDigits + i * sizeof(digit), &digit)) return false;
    const uint64_t shifted = uint64_t{digit} << (kDigitBits * i);
    if (shifted >> (kDigitBits * i) != digit) return false;
    value |= shifted;
  }
  char text[20];
  int used = 0;
  do {
    text[used++] = char('0' + value % 10);
    value /= 10;
  } while (value != 0);
  if (negative) out.put('-');
  while (used > 0) out.put(text[--used]);
  return true;
}

bool put_bool(PythonText& out, uint64_t object) {
  uint32_t digit = 0;
  if (!read_memory(object + kIntDigits, &digit)) return false;
  out.put(digit != 0 ? "True" : "False");
  return true;
}

// A string, a whole number, True or False; of anything else only its own code knows the text.
bool put_plain(PythonText& out, uint64_t object) {
  if (has_python_type(object, g_int_type)) return put_int(out, object);
  if (has_python_type(object, g_bool_type)) return put_bool(out, object);
  if (!is_python_string(object)) return false;
  out.put('\'');
  out.used += read_python_string(object, out.data + out.used, out.size - out.used);
  out.put('\'');
  return true;
}

// `(3, 'experts')`, of what is no tuple the item alone. An item without a text is `...`, and so are the items
// after the first few.
bool put_value(PythonText& out, uint64_t object) {
  constexpr uint64_t kMostItems = 8;
  uint64_t count = 0;
  if (!is_python_tuple(object, &count)) return put_plain(out, object);
  out.put('(');
  for (uint64_t i = 0; i < count && i <= kMostItems; ++i) {
    if (i > 0) out.put(", ");
    if (i == kMostItems || !put_plain(out, python_tuple_item(object, i))) out.put("...");
  }
  out.put(count == 1 ? ",)" : ")");
  return true;
}

}  // namespace

bool know_python_values(const char* version, void* (*symbol)(void* context, const char* name),
                        void* context) {
  const auto type = [&](const char* name) { return reinterpret_cast<uint64_t>(symbol(context, name)); };
  g_int_is_signed_size = strncmp(version, "3.9.", 4) == 0 || strncmp(version, "3.10.", 5) == 0 ||
                         strncmp(version, "3.11.", 5) == 0;
  g_int_type = type("PyLong_Type");
  g_bool_type = type("PyBool_Type");
  g_tuple_type = type("PyTuple_Type");
  return g_tuple_type != 0;
}

bool python_field(uint64_t object, size_t offset, uint64_t* out) {
  return object != 0 && read_memory(object + offset, out);
}

bool has_python_type(uint64_t object, uint64_t type) {
  uint64_t found = 0;
  return python_field(object, kPythonType, &found) && found == type;
}

bool has_python_flag(uint64_t object, uint64_t flag) {
  uint64_t type = 0, flags = 0;
  return python_field(object, kPythonType, &type) && python_field(type, kTypeFlags, &flags) &&
         (flags & flag) != 0;
}

bool is_python_string(uint64_t object) {
  return has_python_flag(object, kIsString);
}

bool is_python_tuple(uint64_t object, uint64_t* items) {
  return has_python_type(object, g_tuple_type) && python_field(object, kTupleSize, items);
}

uint64_t python_tuple_item(uint64_t tuple, size_t index) {
  uint64_t size = 0, item = 0;
  if (!has_python_type(tuple, g_tuple_type) || !python_field(tuple, kTupleSize, &size) || index >= size)
    return 0;
  return python_field(tuple, kTupleItems + index * sizeof(uint64_t), &item) ? item : 0;
}

size_t read_python_string(uint64_t text, char* out, size_t size) {
  uint64_t state = 0, length = 0;
  if (!python_field(text, g_python_layout.text_state, &state) ||
      !python_field(text, g_python_layout.text_length, &length))
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

size_t read_python_value(uint64_t object, char* out, size_t size) {
  PythonText text{out, size};
  return put_value(text, object) ? text.used : 0;
}

}  // namespace capgate::preload
