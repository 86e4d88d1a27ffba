#include "engine/tokenizer/tokenizer.h"

#include <fmt/format.h>

#include "base/printable.h"

namespace dsv4 {

using capgate::Error;
using capgate::Result;

Result<std::vector<int>> Tokenizer::encode(std::string_view text) const {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t bytes = capgate::first_character(text.substr(i)).bytes;
    if (bytes == 0) return Error{fmt::format("the text is not UTF-8 at byte {}", i)};
    i += bytes;
  }
  std::vector<int> out;
  std::size_t plain = 0;  // since here no added token
  for (std::size_t i = 0; i < text.size();) {
    const Added* found = nullptr;
    for (const Added& added : added_)
      if (text.substr(i).starts_with(added.text)) {
        found = &added;
        break;
      }
    if (found == nullptr) {
      ++i;
      continue;
    }
    if (auto ok = encode_words(text.substr(plain, i - plain), out); !ok) return Error{ok.error()};
    out.push_back(found->token);
    plain = i += found->text.size();
  }
  if (auto ok = encode_words(text.substr(plain), out); !ok) return Error{ok.error()};
  return out;
}

// Each pattern cuts what the ones before it left.
Result<void> Tokenizer::encode_words(std::string_view text, std::vector<int>& out) const {
  if (text.empty()) return {};
  std::vector<std::string_view> words = {text};
  for (const SplitPattern& pattern : patterns_) {
    std::vector<std::string_view> cut;
    for (const std::string_view word : words) {
      auto pieces = pattern.split(word);
      if (!pieces) return Error{pieces.error()};
      cut.insert(cut.end(), pieces->begin(), pieces->end());
    }
    words = std::move(cut);
  }
  for (const std::string_view word : words) {
    if (!whole_words_.empty())
      if (const auto it = whole_words_.find(std::string(word)); it != whole_words_.end()) {
        out.push_back(it->second);
        continue;
      }
    pairs_.encode(word, out);
  }
  return {};
}

std::string_view Tokenizer::bytes(int token) const {
  if (token < 0 || token >= size()) return {};
  const Token& it = tokens_[static_cast<std::size_t>(token)];
  return it.special ? std::string_view() : it.bytes;
}

std::string Tokenizer::decode(std::span<const int> tokens) const {
  std::string text;
  for (const int token : tokens) text += bytes(token);
  return text;
}

}  // namespace dsv4
