#include "static_checks/driver/assumptions.h"

#include <algorithm>
#include <charconv>
#include <functional>

namespace capgate::lint {
namespace {

bool holds(int64_t left, const std::string& relation, int64_t right) {
  if (relation == "==") return left == right;
  if (relation == "!=") return left != right;
  if (relation == "<") return left < right;
  if (relation == ">") return left > right;
  if (relation == "<=") return left <= right;
  return left >= right;
}

bool is_named(const TestTerm& term, const std::string& name) {
  if (name == term.text || name == term.key) return !name.empty();
  return term.key.size() > name.size() + 2 && term.key.ends_with(name) &&
         term.key.compare(term.key.size() - name.size() - 2, 2, "::") == 0;
}

// A conjunction fails with one of its terms, a disjunction with all of them.
bool fails(const HostTest& test, const std::function<bool(const TestTerm&)>& term_fails) {
  if (test.terms.empty()) return false;
  return test.all ? std::any_of(test.terms.begin(), test.terms.end(), term_fails)
                  : std::all_of(test.terms.begin(), test.terms.end(), term_fails);
}

}  // namespace

Result<Assumption> read_assumption(std::string_view name, std::string_view value, std::string_view origin) {
  Assumption made;
  made.name = name;
  made.text = std::string(name) + "=" + std::string(value);
  made.origin = origin;
  if (value == "true" || value == "set") {
    made.value = 1;
  } else if (value != "false" && value != "unset") {
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), made.value);
    if (error != std::errc() || end != value.data() + value.size() || value.empty())
      return Error{
          made.origin + ": '" + made.text +
          "' assumes no value that can be compared: write a whole number, true, false, set or unset"};
  }
  if (name.empty()) return Error{made.origin + ": '" + made.text + "' names nothing: write NAME=VALUE"};
  return made;
}

Result<Assumption> read_assumption(std::string_view text, std::string_view origin) {
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos)
    return Error{std::string(origin) + ": '" + std::string(text) +
                 "' has no value: write NAME=VALUE, as cfg.debug=0"};
  return read_assumption(text.substr(0, equals), text.substr(equals + 1), origin);
}

const Assumption* ruled_out(const HostTest& test, const std::vector<Assumption>& assumptions) {
  const Assumption* by = nullptr;
  const bool out = fails(test, [&](const TestTerm& term) {
    for (const Assumption& one : assumptions)
      if (is_named(term, one.name) && !holds(one.value, term.relation, term.value)) {
        by = &one;
        return true;
      }
    return false;
  });
  return out ? by : nullptr;
}

bool never_holds(const HostTest& test, const std::vector<std::string>& set) {
  const auto is_set = [&](const std::string& id) { return std::binary_search(set.begin(), set.end(), id); };
  return fails(test, [&](const TestTerm& term) {
    if (term.id.empty() || !term.has_initial || is_set(term.id)) return false;
    const size_t member = term.id.rfind("::");
    if (member != std::string::npos && is_set(term.id.substr(0, member) + "::*")) return false;
    return !holds(term.initial, term.relation, term.value);
  });
}

}  // namespace capgate::lint
