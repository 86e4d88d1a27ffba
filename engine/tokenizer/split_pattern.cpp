#include "engine/tokenizer/split_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <array>

namespace dsv4 {

using capgate::Error;
using capgate::Result;

namespace {

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

struct FreeMatch {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

}  // namespace

struct SplitPattern::Compiled {
  pcre2_code* code = nullptr;
  Compiled() = default;
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() { pcre2_code_free(code); }
};

Result<SplitPattern> SplitPattern::compile(const std::string& pattern, bool literal) {
  auto compiled = std::make_shared<Compiled>();
  int code = 0;
  PCRE2_SIZE at = 0;
  // UCP: \s and \w are Unicode's.
  const std::uint32_t options = PCRE2_UTF | (literal ? PCRE2_LITERAL : PCRE2_UCP);
  compiled->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), options, &code,
                                 &at, nullptr);
  if (compiled->code == nullptr)
    return Error{fmt::format("the pattern \"{}\" is not understood at character {}: {}", pattern, at,
                             message_of(code))};
  pcre2_jit_compile(compiled->code, PCRE2_JIT_COMPLETE);  // faster where there is room for code; else as well
  return SplitPattern(std::move(compiled));
}

Result<SplitPattern> SplitPattern::regex(const std::string& pattern) {
  return compile(pattern, false);
}
Result<SplitPattern> SplitPattern::literal(const std::string& text) {
  return compile(text, true);
}

Result<std::vector<std::string_view>> SplitPattern::split(std::string_view text) const {
  std::vector<std::string_view> pieces;
  const std::unique_ptr<pcre2_match_data, FreeMatch> match(
      pcre2_match_data_create_from_pattern(compiled_->code, nullptr));
  if (!match) return Error{"no memory for matching a pattern"};
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  std::size_t from = 0, done = 0;
  while (from < text.size()) {
    // Checked once as a whole (Tokenizer::encode), not again with every match.
    const auto look = [&](std::uint32_t more) {
      return pcre2_match(compiled_->code, subject, text.size(), from,
                         PCRE2_NOTEMPTY | PCRE2_NO_UTF_CHECK | more, match.get(), nullptr);
    };
    int found = look(0);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT) found = look(PCRE2_NO_JIT);
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) return Error{fmt::format("cutting the text into words: {}", message_of(found))};
    const PCRE2_SIZE* range = pcre2_get_ovector_pointer(match.get());
    if (range[1] <= from || range[0] < done)
      return Error{"cutting the text into words: a match went backwards"};
    if (range[0] > done) pieces.push_back(text.substr(done, range[0] - done));
    pieces.push_back(text.substr(range[0], range[1] - range[0]));
    from = done = range[1];
  }
  if (done < text.size()) pieces.push_back(text.substr(done));
  return pieces;
}

}  // namespace dsv4
