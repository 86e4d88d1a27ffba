// What CLI11's own conversion lets through: a seed below 0 or too large becomes another one, and "nan" is a
// number in every range.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <string>

namespace dsv4::cli {

// Checks of an option's word: empty, or what is wrong.

inline std::string is_seed(const std::string& word) {
  std::uint64_t seed = 0;
  const char* end = word.data() + word.size();
  const auto [rest, failure] = std::from_chars(word.data(), end, seed);
  if (failure == std::errc() && rest == end) return {};
  return fmt::format("a seed is a whole number from 0 to {}, not '{}'", UINT64_MAX, word);
}

// Logits that are divided by less are no longer finite.
inline std::string is_temperature(const std::string& word) {
  double value = -1;
  const char* end = word.data() + word.size();
  const auto [rest, failure] = std::from_chars(word.data(), end, value);
  if (failure == std::errc() && rest == end && (value == 0 || (value >= 1e-6 && value <= 1e6))) return {};
  return fmt::format("a temperature is 0, or from 0.000001 to 1000000, not '{}'", word);
}

}  // namespace dsv4::cli
