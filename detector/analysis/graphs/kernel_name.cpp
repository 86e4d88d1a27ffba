#include "detector/analysis/kernel_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>

namespace capgate::analysis {
namespace {

// A symbol names what it has named before by short references, and a hostile one doubles itself with each:
// its text is exponential in their number. Real kernels of template libraries have a few dozen at most.
constexpr size_t kMostReferences = 40, kLongestSymbol = 2048;

bool is_small(const std::string& symbol) {
  const auto references = std::count_if(symbol.begin(), symbol.end(), [&](const char& c) {
    const char* next = &c + 1;
    return (c == 'S' || c == 'T') && (*next == '_' || std::isdigit(static_cast<unsigned char>(*next)) != 0);
  });
  return symbol.size() <= kLongestSymbol && static_cast<size_t>(references) <= kMostReferences;
}

// Empty where the symbol is none of C++'s, or too large a one.
std::string demangled(std::string_view symbol) {
  const std::string mangled(symbol);
  if (!symbol.starts_with("_Z") || !is_small(mangled)) return {};
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  return text ? text.get() : std::string();
}

// Where the parameter list of a demangled function begins; its return type and its own brackets are left
// alone.
size_t parameters_at(const std::string& text) {
  int depth = 0;
  for (size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return i;
  }
  return text.size();
}

}  // namespace

std::string kernel_name(std::string_view symbol) {
  if (!symbol.starts_with("_Z")) return std::string(symbol);
  std::string_view rest = symbol.substr(2);
  const bool nested = rest.starts_with('N');
  if (nested) rest.remove_prefix(1);
  std::string name;
  const auto add = [&](std::string_view part) {
    if (!name.empty()) name += "::";
    name += part;
  };
  if (rest.starts_with("St")) {
    add("std");
    rest.remove_prefix(2);
  }
  while (!rest.empty()) {
    if (rest.front() == 'L') rest.remove_prefix(1);  // internal linkage
    size_t length = 0, digits = 0;
    while (digits < rest.size() && digits < 4 && std::isdigit(static_cast<unsigned char>(rest[digits])) != 0)
      length = length * 10 + static_cast<size_t>(rest[digits++] - '0');
    if (length == 0 || digits + length > rest.size()) break;
    const std::string_view part = rest.substr(digits, length);
    add(part.starts_with("_GLOBAL__N_") ? "(anonymous namespace)" : part);
    rest.remove_prefix(digits + length);
    if (!nested) break;
  }
  return name.empty() ? std::string(symbol) : name;
}

std::string full_kernel_name(std::string_view symbol, size_t limit) {
  std::string name = demangled(symbol);
  name.resize(parameters_at(name));
  constexpr std::string_view kReturns = "void ";
  if (name.starts_with(kReturns)) name.erase(0, kReturns.size());
  if (name.empty()) name = kernel_name(symbol);
  if (name.size() > limit) name = name.substr(0, limit) + "...";
  return name;
}

std::vector<std::string> kernel_parameter_types(std::string_view symbol) {
  const std::string name = demangled(symbol);
  std::vector<std::string> types;
  const size_t begin = parameters_at(name) + 1;
  if (begin >= name.size()) return types;
  int depth = 0;
  std::string type;
  for (size_t i = begin; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == ']' || c == '}') --depth;
    const bool last = depth < 0;
    if (!last && (depth > 0 || c != ',')) {
      if (c != ' ' || !type.empty()) type += c;
      continue;
    }
    if (!type.empty()) types.push_back(std::move(type));
    type.clear();
    if (last) break;
  }
  return types;
}

}  // namespace capgate::analysis
