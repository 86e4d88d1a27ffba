#include "static_checks/commands/shell_words.h"

namespace capgate::lint {

std::vector<std::string> shell_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool has_next = i + 1 < text.size();
    if (quote == '\'') {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (quote == '"') {
      // Within double quotes a backslash is an ordinary character before anything else than these.
      if (c == '\\' && has_next && std::string_view("\"\\$`\n").find(text[i + 1]) != std::string_view::npos)
        word += text[++i];
      else if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == '\\' && has_next) {
      if (text[++i] != '\n') word += text[i], in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

std::vector<std::string> list_items(std::string_view text) {
  std::vector<std::string> items;
  std::string item;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      item += text[++i];
    } else if (text[i] == ',') {
      items.push_back(std::move(item));
      item.clear();
    } else {
      item += text[i];
    }
  }
  items.push_back(std::move(item));
  return items;
}

}  // namespace capgate::lint
