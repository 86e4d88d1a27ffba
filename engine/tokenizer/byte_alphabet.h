// The alphabet in which byte-level tokenizers write their tokens: each byte is one printable character. Bytes
// that are printable in Latin-1 stand for themselves, the others follow from U+0100 on in order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dsv4 {

// The characters of the 256 bytes.
std::array<char32_t, 256> byte_alphabet();

// The bytes that text in this alphabet (UTF-8) stands for; nothing if a character is not of it.
std::optional<std::string> bytes_of_alphabet(std::string_view text);

}  // namespace dsv4
