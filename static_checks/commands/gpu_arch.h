// Which GPU architecture to parse for. The host's syntax tree hardly depends on it, but an architecture that
// clang 19 does not know makes the parse fail without a word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace capgate::lint {

// Collects "compute_80", "sm_90a", "arch=compute_75,code=[sm_75,sm_80]", "native", "all", … in nvcc's forms.
class GpuArch {
 public:
  void add(std::string_view specification);
  // "sm_NN[a]": the highest named, at most sm_90a; sm_90 when none is a number.
  std::string clang_name() const;
  // nvcc's __CUDA_ARCH_LIST__ ("800,900"): what was named, sorted, not clamped; "900" when nothing was.
  std::string arch_list() const;

 private:
  std::vector<int> numbers_;
  bool accelerated_ = false;  // sm_90a was named
};

}  // namespace capgate::lint
