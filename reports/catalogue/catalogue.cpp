#include "reports/catalogue/catalogue.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace capgate::reports {
namespace {

#include "reports/catalogue/rules.inc"  // kRules, made from rules.toml

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

std::span<const Rule> rules() {
  return kRules;
}

const Rule* find_rule(std::string_view id) {
  const auto it = std::find_if(kRules.begin(), kRules.end(), [&](const Rule& rule) { return rule.id == id; });
  return it == kRules.end() ? nullptr : &*it;
}

size_t rule_order(std::string_view id) {
  const Rule* rule = find_rule(id);
  return rule ? static_cast<size_t>(rule - kRules.data()) : kRules.size();
}

std::vector<std::string_view> near_names(std::string_view word, std::span<const std::string_view> known) {
  word = word.substr(0, 64);
  std::vector<std::pair<size_t, std::string_view>> found;
  for (const std::string_view name : known) {
    const bool part = word.size() >= 3 && name.find(word) != std::string_view::npos;
    const size_t distance = part ? 0 : edit_distance(word, name);
    if (part || distance <= std::max<size_t>(2, name.size() / 3)) found.emplace_back(distance, name);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string_view> names;
  for (size_t i = 0; i < std::min<size_t>(found.size(), 3); ++i) names.push_back(found[i].second);
  return names;
}

std::vector<std::string_view> near_rules(std::string_view word) {
  std::vector<std::string_view> ids;
  for (const Rule& rule : kRules) ids.push_back(rule.id);
  return near_names(word, ids);
}

std::string suggestion(const std::vector<std::string_view>& near) {
  std::string text;
  for (size_t i = 0; i < near.size(); ++i) {
    if (i) text += i + 1 == near.size() ? " or " : ", ";
    text += near[i];
  }
  return text.empty() ? "" : "; did you mean " + text + "?";
}

std::string unknown_rule(std::string_view word) {
  const std::string text = "unknown rule \"" + std::string(word.substr(0, 64)) + "\"";
  const auto near = near_rules(word);
  return text + (near.empty() ? "; `capgate rules` lists them all" : suggestion(near));
}

}  // namespace capgate::reports
