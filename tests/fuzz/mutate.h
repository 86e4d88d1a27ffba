// Inputs that are nearly right. The same seed gives the same inputs on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace capgate::fuzz {

// xorshift64*: the standard's generators are fixed, its distributions are not.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u | 1) {}
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
  }
  uint64_t below(uint64_t limit) { return limit ? next() % limit : 0; }

 private:
  uint64_t state_;
};

// One of the seeds with one to eight changes (flipped, inserted, removed, repeated, spliced bytes, numbers at
// their limits, words of `words`), or, one time in sixteen, random bytes.
std::string mutated(const std::vector<std::string>& seeds, const std::vector<std::string>& words,
                    Random& random);

// The same for JSON, and one time in two with one to four changes that leave it JSON: values replaced,
// members and items removed or written twice.
std::string mutated_json(const std::vector<std::string>& seeds, const std::vector<std::string>& words,
                         Random& random);

}  // namespace capgate::fuzz
