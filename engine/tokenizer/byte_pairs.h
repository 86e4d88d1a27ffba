// Byte-pair encoding: the bytes of a word, merged two at a time in the order of the merges' ranks.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dsv4 {

struct BytePairs {
  std::array<int, 256> byte_tokens{};
  struct Merge {
    int rank;
    int token;
  };
  // By left and right token: left * 2^32 + right.
  std::unordered_map<std::uint64_t, Merge> merges;

  static std::uint64_t pair(int left, int right) {
    return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
  }

  // The lowest rank first, of equals the leftmost; time n log n. Appends to `out`.
  void encode(std::string_view word, std::vector<int>& out) const;
};

}  // namespace dsv4
