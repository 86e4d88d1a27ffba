// Tests of host values on the way to a finding, and how they decide its severity.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {
namespace {

constexpr size_t kMaxTests = 4;  // of one finding, from the outside in

bool mentions_status(const Node* n, int depth = 0) {
  if (!n || depth > 6) return false;
  const Type* type = value_type(n);
  if (type && type->status) return true;
  return std::any_of(n->kids.begin(), n->kids.end(),
                     [&](const Node* kid) { return mentions_status(kid, depth + 1); });
}

}  // namespace

// Not an error check, nor what the analysis decides by itself.
bool Interpreter::is_host_test(const Node* condition, const Value& value) {
  return s().flow.region && !value.taint && value.tag == Tag::none && !value.has_constant &&
         !mentions_status(condition);
}

uint32_t Interpreter::list_of(std::vector<Behind> tests) {
  const auto [known, made] = test_list_ids_.try_emplace(tests, static_cast<uint32_t>(test_lists_.size()));
  if (made) test_lists_.push_back(std::move(tests));
  return known->second;
}

// A test of a count rules nothing out.
uint32_t Interpreter::with_test(uint32_t tests, const Node* condition, bool wanted) {
  const Counts decided = decides(condition, wanted);
  if (counts::is_count(decided)) return tests;
  const auto [it, fresh] = test_ids_.try_emplace({condition, wanted}, static_cast<uint32_t>(tests_.size()));
  if (fresh) {
    const Node* stream = nullptr;
    bool not_null = true;
    HostTest words = in_words(condition, wanted);
    words.in_no_capture =
        !s().flow.marked && asks_for_stream(condition, stream, not_null) && wanted != not_null;
    tests_.push_back({condition, wanted, std::move(words)});
  }
  std::vector<Behind> list = test_lists_[tests];
  const Behind behind{it->second, decided};
  if (list.size() >= kMaxTests || std::find(list.begin(), list.end(), behind) != list.end()) return tests;
  list.push_back(behind);
  return list_of(std::move(list));
}

// Of a function's tests, as its caller has them: those of what it counts itself are gone.
uint32_t Interpreter::resolved_tests(uint32_t tests, const std::vector<Counts>& given) {
  std::vector<Behind> list = test_lists_[tests];
  for (Behind& one : list) one.decided = counts::resolved(one.decided, given);
  std::erase_if(list, [](const Behind& one) { return counts::is_count(one.decided); });
  return list_of(std::move(list));
}

uint32_t Interpreter::both_tests(uint32_t outer, uint32_t inner) {
  if (!inner || !outer) return outer ? outer : inner;
  std::vector<Behind> list = test_lists_[outer];
  for (const Behind& test : test_lists_[inner])
    if (list.size() < kMaxTests && std::find(list.begin(), list.end(), test) == list.end())
      list.push_back(test);
  return list_of(std::move(list));
}

// Of the ways to one finding: where it lies in both arms of a test, the test decides nothing.
std::vector<Interpreter::Behind> Interpreter::without_opposites(const std::vector<uint32_t>& lists) {
  std::vector<std::vector<Behind>> all;
  all.reserve(lists.size());
  for (const uint32_t list : lists) all.push_back(test_lists_[list]);
  const auto opposite = [&](const Behind& a, const Behind& b) {
    const Node* one = tests_[a.test].condition;
    const Node* other = tests_[b.test].condition;
    if (one == other) return tests_[a.test].wanted != tests_[b.test].wanted;
    const auto choice = choices_.find(one);  // two cases of one switch
    const auto same = choices_.find(other);
    return choice != choices_.end() && same != choices_.end() && choice->second == same->second;
  };
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < all.size() && !again; ++i)
      for (size_t k = i + 1; k < all.size() && !again; ++k)
        if (!all[i].empty() && all[i].size() == all[k].size() && opposite(all[i].back(), all[k].back()) &&
            std::equal(all[i].begin(), all[i].end() - 1, all[k].begin())) {
          all[i].pop_back();
          all.erase(all.begin() + static_cast<long>(k));
          again = true;
        }
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return all.empty() ? std::vector<Behind>() : all.front();
}

std::vector<HostTest> Interpreter::told(const std::vector<Behind>& tests) const {
  std::vector<HostTest> list;
  list.reserve(tests.size());
  for (const Behind& one : tests) {
    list.push_back(tests_[one.test].told);
    list.back().decided = one.decided;
  }
  return list;
}

}  // namespace capgate::lint
