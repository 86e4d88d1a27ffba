// Text for a terminal: clean, wrapped, painted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/counted.h"

namespace capgate::reports::terminal {

// As base/printable.h shows it, so that a name in a report cannot move the cursor or change a colour.
std::string clean(std::string_view text);

// Columns of UTF-8 text: one a character.
size_t columns(std::string_view text);

// The longest name that is shown whole: what is longer is generated, and the report has all of it.
constexpr size_t kNameColumns = 160;

// Text of at most `most` columns: the rest is "…". head_of keeps the beginning (a function, a line of
// source), tail_of the end (a path).
std::string head_of(std::string_view text, size_t most = kNameColumns);
std::string tail_of(std::string_view text, size_t most = kNameColumns);

// A sentence of a report as it is shown: one that a generated name makes longer than a screen is cut.
constexpr size_t kSentenceColumns = 1000;
std::string sentence(std::string_view text);

// The lines without what a CI system would take for its own: GitHub's runner reads a command where "::"
// begins a line of a job's log, after blanks too, or "##[" is in it, and a report's texts are anybody's.
std::string without_commands(std::string_view text);

// The text broken at spaces, each line with the indent, the first without it if `hanging`. Ends with a
// newline. A word longer than a line stands alone on one. Empty lines separate paragraphs and stay.
std::string wrap(std::string_view text, size_t indent, int width, bool hanging = false);

// "12 us", "3.4 ms", "1.2 s"
std::string duration(double microseconds);

// "512 B", "3.0 KiB", "1.5 GiB"
std::string bytes(uint64_t count);

class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}
  std::string bold(std::string_view text) const { return with("1", text); }
  std::string dim(std::string_view text) const { return with("2", text); }
  std::string red(std::string_view text) const { return with("1;31", text); }
  std::string yellow(std::string_view text) const { return with("1;33", text); }
  std::string green(std::string_view text) const { return with("1;32", text); }
  std::string cyan(std::string_view text) const { return with("36", text); }

 private:
  std::string with(std::string_view code, std::string_view text) const {
    if (!on_ || text.empty()) return std::string(text);
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
  }
  bool on_;
};

}  // namespace capgate::reports::terminal
