#include "static_checks/driver/reasons.h"

#include <algorithm>
#include <cctype>

namespace capgate::lint {
namespace {

void add_new(std::vector<std::string>& list, const std::string& one) {
  if (!one.empty() && std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
}

// "a.cu:3, b.cu:9, c.cu:1 and 24 more", from the `first` one on.
std::string named(const std::vector<std::string>& list, size_t first = 0) {
  constexpr size_t kNamed = 3;
  std::string text;
  for (size_t i = first; i < std::min(list.size(), first + kNamed); ++i)
    text += (i == first ? "" : ", ") + list[i];
  if (list.size() > first + kNamed) text += " and " + std::to_string(list.size() - first - kNamed) + " more";
  return text;
}

// One callee that is not known is met on many lines.
std::string without_lines(const std::string& reason) {
  constexpr std::string_view kLine = " at line ";
  std::string text;
  for (size_t at = 0; at < reason.size();) {
    if (reason.compare(at, kLine.size(), kLine) == 0) {
      at += kLine.size();
      while (at < reason.size() && std::isdigit(static_cast<unsigned char>(reason[at])) != 0) ++at;
    } else {
      text += reason[at++];
    }
  }
  return text;
}

}  // namespace

Reasons::Cause& Reasons::cause(const std::string& key) {
  const auto [at, fresh] = known_.try_emplace(key, causes_.size());
  if (fresh) causes_.emplace_back();
  return causes_[at->second];
}

void Reasons::add(const std::string& text, const std::string& remedy) {
  Cause& known = cause("alone\n" + text + '\n' + remedy);
  known.kind = Cause::Kind::alone;
  known.text = text;
  known.remedy = remedy;
}

void Reasons::not_parsed(const std::string& source, const std::string& where, const std::string& text,
                         const std::string& remedy) {
  Cause& known = cause("parser\n" + text + '\n' + remedy);
  known.kind = Cause::Kind::parser;
  known.text = text;
  known.remedy = remedy;
  add_new(known.sources, source);
  add_new(known.places, where);
}

void Reasons::not_analysed(const Gap& gap) {
  // A reason that names what is called is the same wherever that is called.
  const bool names_it = gap.reason.find('\'') != std::string::npos;
  Cause& known = cause("gap\n" + (names_it ? "" : gap.function) + '\n' + without_lines(gap.reason));
  if (known.places.empty()) {
    known.text = (gap.function.empty() ? "" : gap.function + "() was not analysed: ") + gap.reason;
    known.remedy = gap.remedy;
  }
  add_new(known.places, gap.where);
  add_new(known.regions, gap.region);
}

std::string Reasons::sentence(const Cause& cause) {
  if (cause.kind == Cause::Kind::alone) return cause.text;
  if (cause.kind == Cause::Kind::parser && cause.sources.size() == 1)
    return cause.sources[0] +
           " was not parsed as a whole: " + (cause.places.empty() ? "" : cause.places[0] + ": ") + cause.text;
  if (cause.kind == Cause::Kind::parser)
    return std::to_string(cause.sources.size()) + " sources were not parsed as a whole: " + cause.text +
           "; first met at " + named(cause.places.empty() ? cause.sources : cause.places);
  std::string text = cause.places[0] + ": " + cause.text;
  if (!cause.regions.empty()) text += "; it is reached from " + cause.regions[0];
  if (cause.regions.size() > 1)
    text += " and " + std::to_string(cause.regions.size() - 1) + " more region" +
            (cause.regions.size() > 2 ? "s" : "");
  if (cause.places.size() > 1) text += "; the same at " + named(cause.places, 1);
  return text;
}

std::vector<reports::Reason> Reasons::list() const {
  std::vector<reports::Reason> reasons;
  for (const Cause& one : causes_) reasons.push_back({sentence(one), one.remedy});
  return reasons;
}

}  // namespace capgate::lint
