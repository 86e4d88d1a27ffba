#include "engine/tokenizer/byte_alphabet.h"

#include "base/printable.h"

namespace dsv4 {
namespace {

constexpr bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr char32_t kFirstOther = 0x100;

}  // namespace

std::array<char32_t, 256> byte_alphabet() {
  std::array<char32_t, 256> alphabet{};
  char32_t next = kFirstOther;
  for (int byte = 0; byte < 256; ++byte)
    alphabet[static_cast<std::size_t>(byte)] = stands_for_itself(byte) ? static_cast<char32_t>(byte) : next++;
  return alphabet;
}

std::optional<std::string> bytes_of_alphabet(std::string_view text) {
  static const auto kByteOf = [] {
    std::array<int, 0x200> table{};
    table.fill(-1);
    const auto alphabet = byte_alphabet();
    for (std::size_t byte = 0; byte < alphabet.size(); ++byte)
      table.at(alphabet[byte]) = static_cast<int>(byte);
    return table;
  }();
  std::string bytes;
  while (!text.empty()) {
    const auto character = capgate::first_character(text);
    if (character.bytes == 0 || character.code >= kByteOf.size() || kByteOf.at(character.code) < 0)
      return std::nullopt;
    bytes += static_cast<char>(kByteOf.at(character.code));
    text.remove_prefix(character.bytes);
  }
  return bytes;
}

}  // namespace dsv4
