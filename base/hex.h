// Bytes as lower-case hex digits. Takes nothing of the C++ run-time library but what the caller gives, for
// the preloaded library's sake.
#pragma once

#include <cstddef>

namespace capgate {

constexpr char hex_digit(unsigned value) {
  return "0123456789abcdef"[value & 15];
}

// `text`: anything with push_back.
template <class Text>
void append_hex(Text& text, const void* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    const unsigned byte = static_cast<const unsigned char*>(bytes)[i];
    text.push_back(hex_digit(byte >> 4));
    text.push_back(hex_digit(byte));
  }
}

}  // namespace capgate
