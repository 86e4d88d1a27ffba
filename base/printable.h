// Text from outside that goes to a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace capgate {

// The first character of UTF-8 text and how many bytes it takes; 0 where the bytes are none (overlong forms
// and surrogates included).
struct Utf8Character {
  uint32_t code = 0;
  size_t bytes = 0;
};

inline Utf8Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return {};
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  size_t bytes = 2;
  if (lead >= 0xE0) bytes = lead < 0xF0 ? 3 : 4;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  uint32_t code = lead & (0x7FU >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3FU);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, bytes};
}

// Characters that steer a terminal instead of showing something: control characters, line separators, and the
// marks that turn the direction of writing, with which one name can be made to look like another.
inline bool steers_terminal(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x200E || code == 0x200F || code == 0x61C ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

// The text as it can be shown: '?' stands for what steers the terminal and for bytes that are no UTF-8 (a
// terminal takes some of them for control characters). Tabs become four spaces.
inline std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character next = first_character(text);
    if (next.code == '\t') {
      out += "    ";
    } else if (next.bytes == 0 || steers_terminal(next.code)) {
      out += '?';
    } else {
      out += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes != 0 ? next.bytes : 1);
  }
  return out;
}

}  // namespace capgate
