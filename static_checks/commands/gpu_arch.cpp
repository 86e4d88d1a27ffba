#include "static_checks/commands/gpu_arch.h"

#include <algorithm>
#include <cctype>

namespace capgate::lint {

namespace {
constexpr int kHighestKnown = 90;
constexpr int kLowestSupported =
    50;  // CUDA 12's lowest; clang refuses to pair older ones with newer toolkits
}  // namespace

void GpuArch::add(std::string_view specification) {
  for (const std::string_view prefix :
       {std::string_view("compute_"), std::string_view("sm_"), std::string_view("lto_")}) {
    for (size_t at = specification.find(prefix); at != std::string_view::npos;
         at = specification.find(prefix, at + 1)) {
      size_t i = at + prefix.size();
      int number = 0;
      while (i < specification.size() && std::isdigit(static_cast<unsigned char>(specification[i])) &&
             number < 1000)
        number = number * 10 + (specification[i++] - '0');
      if (number == 0) continue;
      if (std::find(numbers_.begin(), numbers_.end(), number) == numbers_.end()) numbers_.push_back(number);
      if (number == kHighestKnown && i < specification.size() && specification[i] == 'a') accelerated_ = true;
    }
  }
}

std::string GpuArch::clang_name() const {
  if (numbers_.empty()) return "sm_90";
  const int highest = *std::max_element(numbers_.begin(), numbers_.end());
  if (highest > kHighestKnown) return "sm_90a";
  if (highest == kHighestKnown) return accelerated_ ? "sm_90a" : "sm_90";
  // Those that clang knows; another number counts as the next lower one.
  for (const int known : {89, 87, 86, 80, 75, 72, 70, 62, 61, 60, 53, 52})
    if (highest >= known) return "sm_" + std::to_string(known);
  return "sm_" + std::to_string(kLowestSupported);
}

std::string GpuArch::arch_list() const {
  std::vector<int> sorted = numbers_;
  if (sorted.empty()) sorted.push_back(kHighestKnown);
  std::sort(sorted.begin(), sorted.end());
  std::string text;
  for (const int number : sorted) text += (text.empty() ? "" : ",") + std::to_string(number * 10);
  return text;
}

}  // namespace capgate::lint
