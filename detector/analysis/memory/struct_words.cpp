#include "detector/analysis/memory/struct_words.h"

#include <algorithm>
#include <string_view>

#include "detector/analysis/kernel_name.h"

namespace capgate::analysis {
namespace {

struct KnownType {
  std::string_view begins;  // as the demangler writes it
  bool all;                 // else the first word alone
};

// Of PyTorch: in each the pointer to the data comes first, and an array of pointers has no other words.
constexpr KnownType kTypes[] = {
    {"at::cuda::detail::TensorInfo<", false}, {"at::GenericPackedTensorAccessor<", false},
    {"at::PackedTensorAccessor32<", false},   {"at::PackedTensorAccessor64<", false},
    {"at::detail::Array<char*,", true},       {"std::array<char*,", true}};

}  // namespace

const std::vector<std::string>& StructWords::types(uint32_t kernel) {
  const auto [known, fresh] = types_.try_emplace(kernel);
  if (fresh) known->second = kernel_parameter_types(trace_.text(kernel));
  return known->second;
}

bool StructWords::is_pointer(uint32_t kernel, uint32_t parameter, uint32_t word) {
  const auto& types = this->types(kernel);
  if (parameter >= types.size()) return false;
  return std::any_of(std::begin(kTypes), std::end(kTypes), [&](const KnownType& known) {
    return types[parameter].starts_with(known.begins) && (known.all || word == 0);
  });
}

void StructWords::seen(uint32_t kernel, uint32_t parameter, size_t words, size_t addresses) {
  Seen& seen = seen_[{kernel, parameter}];
  (addresses == words && words >= 2 ? seen.any : seen.others) = true;
}

bool StructWords::are_addresses(uint32_t kernel, uint32_t parameter) const {
  const auto seen = seen_.find({kernel, parameter});
  return seen != seen_.end() && seen->second.any && !seen->second.others;
}

}  // namespace capgate::analysis
