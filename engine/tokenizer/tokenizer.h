// Text to token ids and back, by a model's tokenizer.json: byte-level BPE behind splitting patterns, as
// DeepSeek's tokenizers are. A file of another kind is refused by name of what it asks for.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/tokenizer/byte_pairs.h"
#include "engine/tokenizer/split_pattern.h"

namespace dsv4 {

class Tokenizer {
 public:
  // Of DIR/tokenizer.json.
  static capgate::Result<Tokenizer> open(const std::string& dir);
  // `origin` names the text in errors.
  static capgate::Result<Tokenizer> parse(std::string_view text, const std::string& origin);

  // The text as it stands: nothing is put before or after it. Tokens that the file adds (such as
  // "<|begin|>") are recognised in it. An error unless the text is UTF-8.
  capgate::Result<std::vector<int>> encode(std::string_view text) const;

  // The bytes of one token; a character may take several tokens. Special tokens and ids that the file does
  // not know have none.
  std::string_view bytes(int token) const;
  std::string decode(std::span<const int> tokens) const;

  int size() const { return static_cast<int>(tokens_.size()); }

 private:
  friend class TokenizerFile;
  struct Added {
    std::string text;
    int token;
  };
  Tokenizer() = default;
  capgate::Result<void> encode_words(std::string_view text, std::vector<int>& out) const;

  BytePairs pairs_;
  std::vector<SplitPattern> patterns_;
  std::vector<Added> added_;  // the longest first
  struct Token {
    std::string bytes;
    bool special = false;
  };
  std::vector<Token> tokens_;                         // by id
  std::unordered_map<std::string, int> whole_words_;  // where the file takes them before merging
};

}  // namespace dsv4
