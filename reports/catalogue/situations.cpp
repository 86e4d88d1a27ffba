#include "reports/catalogue/situations.h"

#include <algorithm>
#include <array>
#include <vector>

#include "reports/catalogue/situation_fields.h"
#include "reports/identity/fingerprint.h"

namespace capgate::reports {
namespace {

#include "reports/catalogue/situations.inc"  // kSituations and kReplacements, made from situations/*.toml

constexpr Situation kNone{};

// Stands for the replacement of the API that was refused.
constexpr std::string_view kReplacementMark = "{replacement}";

}  // namespace

std::span<const Situation> situations() {
  return kSituations;
}

std::span<const Situation> situations_of_rule(std::string_view rule) {
  const auto of_rule = [&](const Situation& situation) { return situation.rule == rule; };
  const auto first = std::find_if(kSituations.begin(), kSituations.end(), of_rule);
  return {first, std::find_if_not(first, kSituations.end(), of_rule)};
}

const Situation* find_situation(std::string_view id) {
  const auto it = std::find_if(kSituations.begin(), kSituations.end(),
                               [&](const Situation& situation) { return situation.id == id; });
  return it == kSituations.end() ? nullptr : &*it;
}

const Situation& situation_of(const Violation& violation) {
  for (const Situation& situation : situations_of_rule(violation.rule))
    if (std::all_of(situation.when.begin(), situation.when.end(),
                    [&](const Condition& condition) { return holds(condition, violation); }))
      return situation;
  return kNone;
}

const Situation& situation_named(const Violation& violation) {
  const Situation* named = find_situation(violation.situation);
  return named && named->rule == violation.rule ? *named : situation_of(violation);
}

namespace {

bool is_in_vain(std::string_view text, const Violation& violation) {
  const auto torch = violation.details.find("torch");
  return torch != violation.details.end() && torch->second == "not loaded" && is_for_torch(text);
}

}  // namespace

bool is_for_torch(std::string_view text) {
  for (const std::string_view word :
       {"torch", "Tensor", "tensor", "non_blocking", "pin_memory", "wait_stream", "copy_(", "replay()"})
    if (text.find(word) != std::string_view::npos) return true;
  return false;
}

std::string_view fix_of(const Situation& situation, const Violation& violation) {
  const bool python = language_of(violation) == Language::python && !situation.python_fix.empty() &&
                      !is_in_vain(situation.python_fix, violation);
  const std::string_view fix = python ? situation.python_fix : situation.fix;
  if (fix != kReplacementMark) return fix;
  const Replacement* other = replacement(callee_key(violation));
  return other ? other->instead : "";
}

std::string_view example_of(const Situation& situation, const Violation& violation) {
  const bool python = language_of(violation) == Language::python && !is_in_vain(situation.python, violation);
  return python ? situation.python : situation.cpp;
}

std::string_view fix_given(const Situation& situation, const Violation& violation) {
  const std::string_view given = violation.hint;
  const Rule* rule = find_rule(violation.rule);
  const auto is_former = [&] {
    return std::find(rule->former_hints.begin(), rule->former_hints.end(), given) != rule->former_hints.end();
  };
  const Situation* written = find_situation(violation.situation);
  const bool catalogues = given.empty() || (rule && (given == rule->hint || is_former())) ||
                          (written && given == fix_of(*written, violation));
  if (!catalogues) return given;
  const std::string_view fix = fix_of(situation, violation);
  return fix.empty() && rule ? rule->hint : fix;
}

namespace {

// "cudaMalloc", "cuMemAlloc", "cublasCreate"; no rule's id has a capital.
bool is_api_name(std::string_view word) {
  return word.starts_with("cu") &&
         std::any_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

std::string unknown_situation(std::string_view word, const Rule& rule) {
  std::vector<std::string_view> ids;
  for (const Situation& situation : situations_of_rule(rule.id)) ids.push_back(situation.id);
  const auto near = near_names(word, ids);
  return std::string(rule.id) + " has no situation \"" + std::string(word.substr(0, 64)) + "\"" +
         (near.empty() ? "; `capgate explain " + std::string(rule.id) + "` lists those that it has"
                       : suggestion(near));
}

std::string unknown_api(std::string_view word) {
  std::vector<std::string_view> apis;
  for (const Replacement& row : kReplacements) apis.insert(apis.end(), row.apis.begin(), row.apis.end());
  const auto near = near_names(word, apis);
  return "\"" + std::string(word.substr(0, 64)) +
         "\" is not among the calls that captures refuse or leave out" +
         (near.empty() ? "; docs/rules/calls.md lists them" : suggestion(near));
}

}  // namespace

std::string unknown_name(std::string_view word) {
  if (const Rule* rule = find_rule(word.substr(0, word.find('.'))); rule && word.find('.') != word.npos)
    return unknown_situation(word, *rule);
  return is_api_name(word) ? unknown_api(word) : unknown_rule(word);
}

std::span<const Replacement> replacements() {
  return kReplacements;
}

const Replacement* replacement(std::string_view api) {
  const std::string name = callee_name(api);
  const auto it = std::find_if(kReplacements.begin(), kReplacements.end(), [&](const Replacement& row) {
    return std::find(row.apis.begin(), row.apis.end(), name) != row.apis.end();
  });
  return it == kReplacements.end() ? nullptr : &*it;
}

}  // namespace capgate::reports
