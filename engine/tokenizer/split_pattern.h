// A pattern by which a tokenizer cuts text before its merges.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dsv4 {

class SplitPattern {
 public:
  // A regular expression over Unicode (\p{L}, \s, look-ahead …), or text that is meant literally.
  static capgate::Result<SplitPattern> regex(const std::string& pattern);
  static capgate::Result<SplitPattern> literal(const std::string& text);

  // Cuts text, which must be UTF-8: every match and every gap between two is a piece of its own. An error
  // when the matching gives up.
  capgate::Result<std::vector<std::string_view>> split(std::string_view text) const;

 private:
  struct Compiled;
  explicit SplitPattern(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  static capgate::Result<SplitPattern> compile(const std::string& pattern, bool literal);
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace dsv4
