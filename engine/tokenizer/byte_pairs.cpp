#include "engine/tokenizer/byte_pairs.h"

#include <queue>
#include <tuple>

namespace dsv4 {
namespace {

struct Symbol {
  int token;
  int before, after;  // -1: none
};

struct Candidate {
  int rank, left;               // position of the left symbol
  int token;                    // what the two become
  int left_token, right_token;  // as they were; another merge may have taken one since
  bool operator>(const Candidate& other) const {
    return std::tie(rank, left) > std::tie(other.rank, other.left);
  }
};

}  // namespace

void BytePairs::encode(std::string_view word, std::vector<int>& out) const {
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  const int count = static_cast<int>(word.size());
  for (int i = 0; i < count; ++i)
    symbols.push_back({byte_tokens.at(static_cast<unsigned char>(word[static_cast<std::size_t>(i)])), i - 1,
                       i + 1 < count ? i + 1 : -1});
  const auto at = [&](int i) -> Symbol& { return symbols[static_cast<std::size_t>(i)]; };
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto consider = [&](int left) {
    if (left < 0 || at(left).after < 0) return;
    const int a = at(left).token, b = at(at(left).after).token;
    if (const auto it = merges.find(pair(a, b)); it != merges.end())
      queue.push({it->second.rank, left, it->second.token, a, b});
  };
  for (int i = 0; i + 1 < count; ++i) consider(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = at(best.left);
    if (left.token != best.left_token || left.after < 0 || at(left.after).token != best.right_token) continue;
    Symbol& right = at(left.after);
    left.token = best.token;
    right.token = -1;  // gone
    left.after = right.after;
    if (left.after >= 0) at(left.after).before = best.left;
    consider(left.before);
    consider(best.left);
  }
  for (int i = count > 0 ? 0 : -1; i >= 0; i = at(i).after) out.push_back(at(i).token);
}

}  // namespace dsv4
