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

}  // namespace

std::string mutated(const std::vector<std::string>& seeds, const std::vector<std::string>& words,
                    Random& random) {
  if (random.below(16) == 0) return noise(random, 512);
  std::string text = seeds[random.below(seeds.size())];
  for (uint64_t n = 1 + random.below(8); n > 0; --n) change(text, seeds, words, random);
  return text;
}

}  // namespace capgate::fuzz
