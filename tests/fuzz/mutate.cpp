#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <cstring>

namespace capgate::fuzz {
namespace {

constexpr size_t kMostBytes = 1 << 16;

std::string noise(Random& random, size_t most) {
  std::string out(random.below(most), '\0');
  for (auto& c : out) c = static_cast<char>(random.next());
  return out;
}

void poke_number(std::string& text, Random& random) {
  static constexpr uint64_t kLimits[] = {0,
                                         1,
                                         7,
                                         8,
                                         16,
                                         127,
                                         128,
                                         255,
                                         256,
                                         4095,
                                         4096,
                                         0x7fff,
                                         0x8000,
                                         0xffff,
                                         0x7fffffff,
                                         0x80000000,
                                         0xffffffff,
                                         0x7fffffffffffffff,
                                         0x8000000000000000,
                                         0xffffffffffffffff};
  const size_t width = size_t{1} << random.below(4);
  if (text.size() < width) return;
  const uint64_t value = kLimits[random.below(std::size(kLimits))] + random.below(3) - 1;
  std::memcpy(text.data() + random.below(text.size() - width + 1), &value, width);
}

void change(std::string& text, const std::vector<std::string>& seeds, const std::vector<std::string>& words,
            Random& random) {
  const size_t at = random.below(text.size() + 1);
  const size_t length = std::min<size_t>(random.below(64), text.size() - at);
  switch (random.below(9)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
      break;
    case 1:
      if (at < text.size()) text[at] = static_cast<char>(random.next());
      break;
    case 2:
      text.insert(at, noise(random, 16));
      break;
    case 3:
      text.erase(at, length);
      break;
    case 4:
      text.insert(at, text.substr(random.below(text.size() + 1), length));
      break;
    case 5:
      text.resize(at);
      break;
    case 6:
      poke_number(text, random);
      break;
    case 7:
      if (!words.empty()) text.insert(at, words[random.below(words.size())]);
      break;
    default: {
      const std::string& other = seeds[random.below(seeds.size())];
      const size_t from = random.below(other.size() + 1);
      text.replace(at, length, other, from, random.below(256));
    }
  }
  if (text.size() > kMostBytes) text.resize(kMostBytes);
}

// A value of a JSON text, and the member or item that it is.
struct JsonValue {
  size_t member, begin, end;  // `member`: where its key begins; without one, `begin`
};

size_t string_end(const std::string& text, size_t quote) {
  size_t at = quote + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

// Of a text that was JSON before it was changed here; anything else gives some parts of it.
std::vector<JsonValue> json_values(const std::string& text) {
  std::vector<JsonValue> values;
  std::vector<JsonValue> open;
  size_t key = std::string::npos;
  const auto close = [&](JsonValue value, size_t end) {
    value.end = end;
    values.push_back(value);
  };
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const size_t member = std::min(key, at);
    if (c == '{' || c == '[') {
      open.push_back({member, at, at});
      key = std::string::npos;
      ++at;
    } else if (c == '}' || c == ']') {
      ++at;
      if (open.empty()) continue;
      close(open.back(), at);
      open.pop_back();
    } else if (c == '"') {
      const size_t end = string_end(text, at);
      const size_t next = text.find_first_not_of(" \n", end);
      if (next != std::string::npos && text[next] == ':') {
        key = at;
        at = next + 1;
        continue;
      }
      close({member, at, at}, end);
      key = std::string::npos;
      at = end;
    } else if (std::strchr(" \n,:", c) != nullptr) {
      ++at;
    } else {
      const size_t end = std::min(text.find_first_of(" \n,:]}", at), text.size());
      close({member, at, at}, end);
      key = std::string::npos;
      at = std::max(end, at + 1);
    }
  }
  return values;
}

void change_json(std::string& text, const std::vector<std::string>& seeds, Random& random) {
  static const std::vector<std::string> kValues{R"(null)",
                                                R"(true)",
                                                R"(0)",
                                                R"(-1)",
                                                R"(1e308)",
                                                R"(4294967296)",
                                                R"(18446744073709551615)",
                                                R"([])",
                                                R"({})",
                                                R"([[]])",
                                                R"("")",
                                                R"("\u0000")",
                                                R"("\ud83d")",
                                                R"("../../x")",
                                                R"(-0.5)",
                                                R"([null])",
                                                R"("\n")",
                                                R"("host-sync")",
                                                R"({"": 1})"};
  static const std::vector<std::string> kTexts{
      R"("")",
      R"("host-sync")",
      R"("\u001b[31m\n\u0000")",
      R"("\u00e4\u4e00\ud83d\ude00\u0301")",
      "\"\xc3\xa4\xff\xf0\"",
      "\"" + std::string(300, '/') + "\"",
      "\"" + std::string(3000, 'x') + "\"",
      R"("a::b<(lambda)>::operator()(int, T&&) const [with T = int]")"};
  static const std::vector<std::string> kNumbers{
      "0", "1", "2", "2147483647", "4294967295", "9007199254740993", "1e300"};
  const std::vector<JsonValue> values = json_values(text);
  if (values.empty()) return;
  const JsonValue& value = values[random.below(values.size())];
  switch (random.below(4)) {
    case 0: {
      // Mostly one of the same kind: what has another kind is refused at once.
      const char c = text[value.begin];
      const bool other = random.below(4) == 0;
      const std::vector<std::string>* by = &kValues;
      if (!other && c == '"') by = &kTexts;
      if (!other && std::strchr("-0123456789", c) != nullptr) by = &kNumbers;
      text.replace(value.begin, value.end - value.begin, (*by)[random.below(by->size())]);
      break;
    }
    case 1: {
      const std::string& other = seeds[random.below(seeds.size())];
      const std::vector<JsonValue> others = json_values(other);
      if (others.empty()) break;
      const JsonValue& by = others[random.below(others.size())];
      text.replace(value.begin, value.end - value.begin, other, by.begin, by.end - by.begin);
      break;
    }
    case 2:
      text.insert(value.end, ", " + text.substr(value.member, value.end - value.member));
      break;
    default: {
      // With the comma behind it; the last one with the comma before it.
      size_t begin = value.member, end = text.find_first_not_of(" \n", value.end);
      if (end == std::string::npos || text[end] != ',') {
        end = value.end;
        const size_t before = begin == 0 ? begin : text.find_last_not_of(" \n", begin - 1);
        if (before != std::string::npos && text[before] == ',') begin = before;
      } else {
        ++end;
      }
      text.erase(begin, end - begin);
    }
  }
  if (text.size() > kMostBytes) text.resize(kMostBytes);
}

}  // namespace

std::string mutated_json(const std::vector<std::string>& seeds, const std::vector<std::string>& words,
                         Random& random) {
  if (random.below(2) == 0) return mutated(seeds, words, random);
  std::string text = seeds[random.below(seeds.size())];
  for (uint64_t n = 1 + random.below(4); n > 0; --n) change_json(text, seeds, random);
  return text;
}

std::string mutated(const std::vector<std::string>& seeds, const std::vector<std::string>& words,
                    Random& random) {
  if (random.below(16) == 0) return noise(random, 512);
  std::string text = seeds[random.below(seeds.size())];
  for (uint64_t n = 1 + random.below(8); n > 0; --n) change(text, seeds, words, random);
  return text;
}

}  // namespace capgate::fuzz
